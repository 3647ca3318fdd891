import CKeychainLinux
import Foundation
import Glibc
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The command `file watch-locked`.
@Suite struct FileHoldersTests {
    @Test(
        "What the kernel says of a descriptor",
        arguments: [
            ("pos:\t0\nflags:\t0100000\nmnt_id:\t29\n", DescriptorAccess.reading),
            ("pos:\t0\nflags:\t0100001\n", .writing), ("pos:\t12\nflags:\t02100002\nino:\t5\n", [.reading, .writing]),
            ("flags: 0", .reading), ("pos:\t0\nflags:\t012100000\n", nil), ("pos:\t0\nflags:\t0100003\n", nil),
            ("pos:\t0\n", nil), ("flags:\tx\n", nil), ("flags:", nil), ("", nil),
        ] as [(String, DescriptorAccess?)])
    func access(info: String, expected: DescriptorAccess?) {
        #expect(DescriptorAccess(info: info) == expected)
    }

    private func files(_ outcome: Tool.Outcome, of holder: Holder) -> [[String: Any]] {
        (outcome.object["files"] as? [[String: Any]] ?? []).filter {
            $0["pid"] as? Int == Int(holder.process)
        }
    }

    @Test("A program that has protected files open is listed, with each file once and no plain ones")
    func holder() throws {
        try withTool { (tool) throws in
            for name in ["complete", "complete-unless-open", "none"] {
                try tool.run("file", "write", tool.path(name), "--class", name, input: Data("content".utf8))
            }
            try tool.file("plain")
            let (a, b, d) = (tool.path("complete"), tool.path("complete-unless-open"), tool.path("none"))
            let opened = [
                (a, O_RDONLY), (a, O_WRONLY | O_APPEND), (b, O_RDWR), (d, O_RDONLY), (tool.path("plain"), O_RDONLY),
            ]
            try Holder.with(opened) { holder in
                let outcome = try tool.run("file", "watch-locked", "--json")
                #expect(outcome.status == 0)
                #expect(outcome.object["notLookedInto"] is Int)
                let found = files(outcome, of: holder)
                #expect(found.compactMap { $0["path"] as? String } == [a, b, d])
                #expect(found.compactMap { $0["class"] as? String } == ["complete", "complete-unless-open", "none"])
                #expect(found.compactMap { $0["whenLocked"] as? String } == ["closed", "stays-open", "unaffected"])
                #expect(found.compactMap { $0["reading"] as? Bool } == [true, true, true])
                #expect(found.compactMap { $0["writing"] as? Bool } == [true, true, false])
                #expect(found.allSatisfy { $0["program"] as? String == "sleep" && $0["user"] is String })
                let text = try tool.run("file", "watch-locked").text
                let line = text.split(separator: "\n").first { $0.hasSuffix(a) }
                #expect(line?.contains("closed to it") == true && line?.contains("reading and writing") == true)
            }
            // What is open has another name, or none, as it may.
            try Holder.with([(a, O_RDONLY)]) { holder in
                try FileManager.default.removeItem(atPath: a)
                let found = files(try tool.run("file", "watch-locked", "--json"), of: holder)
                #expect(found.compactMap { $0["path"] as? String } == [a + " (deleted)"])
            }
        }
    }

    @Test("With --follow the list comes anew at each lock", .enabled(if: Tool.sharesKeys))
    func follow() throws {
        try withPasscode { (tool) throws in
            let a = tool.path("a")
            try tool.run("file", "write", a, "--class", "complete", input: Data("content".utf8))
            try Holder.with([(a, O_RDONLY)]) { _ in
                let output = Pipe()
                let process = Process()
                process.executableURL = Tool.executable
                process.arguments = ["file", "watch-locked", "--follow"]
                process.environment = tool.environment
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = output
                let log = try tool.file("errors", Data())
                process.standardError = FileHandle(forWritingAtPath: log)
                func errors() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
                try withoutHeldSignals { try process.run() }
                defer { #expect(errors().isEmpty) }
                let lines = LineReader(output.fileHandleForReading)
                try lines.skip(to: "sleep")
                for _ in 0..<2 {
                    #expect(try tool.run("lock").status == 0)
                    try lines.skip(to: "The keychain was locked.")
                    try lines.skip(to: "closed to it")
                    #expect(try tool.unlock().status == 0)
                    // It looks once a second.
                    sleep(2)
                }
                process.kill(with: SIGINT)
                _ = try process.finish()
            }
        }
    }
}

/// A program that has files open and does nothing.
///
/// It inherits nothing else: one of the descriptors by which Foundation sees other processes end would keep it from that.
private struct Holder {
    let process: pid_t

    static func with(_ files: [(path: String, flags: Int32)], _ body: (Holder) throws -> Void) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        var next = STDERR_FILENO + 1
        for (path, flags) in files {
            posix_spawn_file_actions_addopen(&actions, next, path, flags, 0)
            next += 1
        }
        ckeychain_add_close_from(&actions, next)
        var process: pid_t = 0
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
        defer { words.forEach { free($0) } }
        let failure = posix_spawn(&process, "/bin/sleep", &actions, nil, words, nil)
        try #require(failure == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        try body(Holder(process: process))
    }
}
