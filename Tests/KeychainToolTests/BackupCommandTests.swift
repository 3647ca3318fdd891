import Foundation
import Glibc
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The commands `file backup-key`, `file backup` and `file restore`. One after the other, since each passphrase costs
/// 128 MiB for a moment.
@Suite(.serialized) struct BackupCommandTests {
    private static let passphrase = "correct horse battery"
    private static let twice = Tool.lines(passphrase, passphrase)
    private static let once = Tool.lines(passphrase)
    private static let classes = [
        "complete", "complete-unless-open", "complete-when-user-inactive",
        "complete-until-first-user-authentication", "none",
    ]

    /// A tree with a file of each class, a plain one, a link and a directory that gives a class.
    private func makeTree(_ tool: Tool) throws {
        for name in Self.classes {
            try tool.file("tree/below/x")
            let outcome = try tool.run(
                "file", "write", tool.path("tree/below/\(name)"), "--class", name,
                input: Data("content of \(name)".utf8))
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try FileManager.default.moveItem(atPath: tool.path("tree/below/x"), toPath: tool.path("tree/plain"))
        try FileManager.default.createSymbolicLink(atPath: tool.path("tree/link"), withDestinationPath: "plain")
        #expect(try tool.run("file", "class", "--set", "complete", tool.path("tree/below")).status == 0)
        #expect(chmod(tool.path("tree/below"), 0o550) == 0)
    }

    private func key(_ tool: Tool, _ arguments: String...) throws -> Tool.Outcome {
        try tool.run(
            words: ["file", "backup-key", "--output", tool.path("files.key")] + arguments, input: Self.twice)
    }

    private func makeWritable(_ tool: Tool) {
        for path in ["tree/below", "copies/tree/below", "back/tree/below"] { chmod(tool.path(path), 0o700) }
    }

    private func content(_ tool: Tool, _ tree: String, _ names: [String] = classes) throws {
        for name in names {
            #expect(try tool.run("file", "cat", tool.path("\(tree)/below/\(name)")).text == "content of \(name)")
        }
    }

    // MARK: There and back

    private func backUpLocked(_ tool: Tool) throws {
        defer { makeWritable(tool) }
        try makeTree(tool)
        let made = try key(tool, "--json")
        #expect(made.status == 0, "\(made.errors)")
        #expect(
            made.object["keychain"] as? String
                == (try tool.run("status", "--json").object["storeID"] as? String)?.lowercased())
        #expect(try tool.mode(tool.path("files.key")) == 0o600)
        #expect(try tool.run("lock", "--now").status == 0)
        let copied = try tool.run("file", "backup", tool.path("tree"), "--to", tool.path("copies"), "--json")
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(copied.object["copied"] as? Int == 5 && copied.object["plain"] as? Int == 1)
        #expect((copied.object["skipped"] as? [String: Int])?["symbolicLinks"] == 1)
        for name in Self.classes {
            let (file, copy) = (tool.path("tree/below/\(name)"), tool.path("copies/tree/below/\(name)"))
            #expect(FileManager.default.contentsEqual(atPath: file, andPath: copy))
        }
        #expect(try tool.mode(tool.path("copies/tree/below")) == 0o550)
        #expect(try tool.run("file", "class", tool.path("copies/tree/below")).text.hasPrefix("complete "))
        #expect(!FileManager.default.fileExists(atPath: tool.path("copies/tree/plain")))
        let again = try tool.run("file", "backup", tool.path("tree"), "--to", tool.path("copies"))
        #expect(
            again.text == "0 files copied (0 bytes); 5 unchanged; 1 plain file left out; skipped: 1 symbolic link\n")
        #expect(try tool.mode(tool.path("copies/tree/below")) == 0o550)
        #expect(try key(tool, "--force").status == 36)
    }

    private func restoreElsewhere(_ tool: Tool) throws {
        try withTool { (other) throws in
            defer { makeWritable(other) }
            let arguments = [tool.path("copies/tree"), "--key", tool.path("files.key")]
            let restored = try other.run(
                words: ["file", "restore"] + arguments + ["--to", other.path("back")], input: Self.once)
            #expect(restored.status == 0, "\(restored.errors)")
            #expect(restored.text.hasPrefix("5 files restored (") && restored.text.hasSuffix(")\n"), "\(restored.text)")
            try content(other, "back/tree")
            #expect(try other.run("file", "class", other.path("back/tree/below")).text.hasPrefix("complete "))
            let again = try other.run(
                words: ["file", "restore"] + arguments + ["--to", other.path("back"), "--json"], input: Self.once)
            #expect(again.object["restored"] as? Int == 0 && again.object["alreadyRestored"] as? Int == 5)
            // The copies themselves.
            #expect(
                try other.run(words: ["file", "restore"] + arguments, input: Self.once).text == "5 files restored\n")
            #expect(
                try other.run(words: ["file", "restore"] + arguments, input: Self.once).text
                    == "0 files restored; 5 of this keychain already\n")
            for name in Self.classes {
                let path = tool.path("copies/tree/below/\(name)")
                #expect(try other.run("file", "cat", path).text == "content of \(name)")
            }
        }
    }

    @Test("What is copied while locked is restored into another keychain", .enabled(if: Tool.sharesKeys))
    func locked() throws {
        try withPasscode { (tool) throws in
            try backUpLocked(tool)
            try restoreElsewhere(tool)
        }
    }

    @Test("With a daemon it is the same")
    func daemon() throws {
        try withTool { (tool) throws in
            let home = try DaemonOfHome(tool)
            defer { home.process.kill() }
            try home.tool.run("migrate", "--to", "user")
            try home.process.start()
            #expect(try home.tool.setPasscode().status == 0)
            try backUpLocked(home.tool)
            try restoreElsewhere(home.tool)
        }
    }

    // MARK: Refusals

    @Test("A restore changes nothing that was there, and lets nobody in whom the copies name")
    func looseCopies() throws {
        try withTool { tool in
            let directories = ["tree", "tree/sub", "tree/any", "tree/own"]
            for directory in directories {
                try FileManager.default.createDirectory(
                    atPath: tool.path(directory), withIntermediateDirectories: true)
            }
            for name in ["tree/letter", "tree/sub/note"] {
                #expect(try tool.run("file", "write", tool.path(name), input: Data("content".utf8)).status == 0)
            }
            #expect(try key(tool).status == 0)
            #expect(try tool.run("file", "backup", tool.path("tree"), "--to", tool.path("stick")).status == 0)
            // The finder of the stick has no key.
            let loosen = """
                import os
                for name, value in [('', b'none'), ('sub', b'none'), ('any', b'any'), ('own', b'completeUnlessOpen')]:
                    os.chmod('stick/tree/' + name, 0o2777)
                    os.setxattr('stick/tree/' + name, 'user.keychain.protection', value)
                os.chmod('stick/tree/letter', 0o6777)
                """
            #expect(try tool.shell("cd '\(tool.home.path)' && python3 -c \"\(loosen)\"").status == 0)
            try FileManager.default.createDirectory(
                atPath: tool.path("new/tree"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            #expect(try tool.run("file", "class", "--set", "complete", tool.path("new/tree")).status == 0)
            let words = ["file", "restore", tool.path("stick/tree"), "--key", tool.path("files.key"), "--to"]
            let restored = try tool.run(words: words + [tool.path("new")], input: Self.once)
            #expect(restored.status == 0, "\(restored.errors)")
            #expect(try tool.mode(tool.path("new/tree")) == 0o700)
            #expect(try tool.run("file", "class", tool.path("new/tree")).text.hasPrefix("complete "))
            #expect(try tool.mode(tool.path("new/tree/sub")) == 0o755)
            // A class that is weaker, or none that there is, gives way to the one from above.
            for name in ["sub", "any", "own"] {
                let path = tool.path("new/tree/\(name)")
                #expect(try tool.run("file", "class", path).text.hasPrefix("complete "), "\(name)")
                #expect(try tool.run("file", "write", path + "/later", input: Data("later".utf8)).status == 0)
            }
            #expect(try tool.mode(tool.path("new/tree/letter")) == 0o755)
            #expect(try tool.run("file", "cat", tool.path("new/tree/sub/note")).text == "content")
        }
    }

    @Test("Each thing that is wrong with a backup key has its own status")
    func statuses() throws {
        try withTool { (tool) throws in
            #expect(try key(tool).status == 44, "no keychain, and none is made")
            try tool.run("file", "write", tool.path("f"), input: Data("content".utf8))
            #expect(try tool.run("file", "backup-key", "--output", tool.path("k"), input: Self.once).status == 206)
            #expect(try key(tool).status == 0)
            #expect(try key(tool).status == 45)
            #expect(try tool.run("file", "backup-key", input: Self.twice).output.count == 275)
            let whole = try Data(contentsOf: URL(fileURLWithPath: tool.path("files.key")))
            #expect(whole.count == 275)
            try withTool { (other) throws in
                func restore(_ bytes: Data, _ input: Data = Self.once) throws -> Tool.Outcome {
                    let path = try other.file("key", bytes)
                    return try other.run(
                        "file", "restore", tool.path("f"), "--key", path, "--to", other.path("to"), input: input)
                }
                var (newer, changed) = (whole, whole)
                newer[9] = 2
                changed[200] ^= 1
                #expect(try restore(whole, Tool.lines("wrong")).status == 51)
                #expect(try restore(Data("text".utf8)).status == 206)
                #expect(try restore(newer).status == 252)
                #expect(try restore(changed).status == 93)
                #expect(try restore(whole.prefix(200)).status == 93)
                #expect(
                    try other.run("file", "restore", "x", "--key", other.path("none"), input: Self.once).status == 220)
                #expect(!FileManager.default.fileExists(atPath: other.path("to")))
                #expect(!FileManager.default.fileExists(atPath: other.store.path))
                #expect(try restore(whole).status == 0)
            }
        }
    }

    @Test("A file of a third keychain, a plain one and one under newer keys fail, are told, and the rest is done")
    func files() throws {
        try withPasscode { (tool) throws in
            try tool.run("file", "write", tool.path("tree/a"), input: Data())
            try tool.file("tree/keep")
            try tool.run("file", "write", tool.path("tree/a"), input: Data("a".utf8))
            #expect(try key(tool).status == 0)
            try tool.run("file", "write", tool.path("tree/b"), input: Data("b".utf8))
            try tool.run(
                "passcode", "change", "--rekey",
                input: Tool.lines(Tool.passcode, Tool.otherPasscode, Tool.otherPasscode))
            try tool.run("file", "write", tool.path("tree/newer"), input: Data("newer".utf8))
            try withTool { (third) throws in
                try third.run("file", "write", tool.path("tree/third"), input: Data("third".utf8))
            }
            try withTool { (other) throws in
                let outcome = try other.run(
                    "file", "restore", tool.path("tree"), "--key", tool.path("files.key"), input: Self.once)
                #expect(outcome.status == 50)
                #expect(outcome.text == "2 files restored; 1 plain file left out; 2 failed\n", "\(outcome.text)")
                #expect(
                    outcome.errors.contains("\(tool.path("tree/newer")): its key is of generation 3"),
                    "\(outcome.errors)")
                #expect(outcome.errors.contains("make a newer backup key"))
                #expect(outcome.errors.contains("\(tool.path("tree/third")): it belongs to keychain"))
                #expect(try other.run("file", "cat", tool.path("tree/a"), tool.path("tree/b")).text == "ab")
                let named = try other.run(
                    "file", "restore", tool.path("tree/keep"), "--key", tool.path("files.key"), input: Self.once)
                #expect(named.status == 206)
            }
        }
    }

    @Test("A directory within what is copied, two equal names, a keychain's directory and occupied places are refused")
    func places() throws {
        try withTool { (tool) throws in
            for name in ["a/f", "b/a/f", "c/f"] {
                try tool.file(name)
                #expect(try tool.run("file", "protect", tool.path(name)).status == 0)
            }
            func backup(_ words: String...) throws -> Tool.Outcome {
                try tool.run(
                    words: ["file", "backup"] + words.dropLast().map(tool.path) + ["--to", tool.path(words.last!)])
            }
            #expect(try backup("a", "a").status == 206)
            #expect(try backup("a", "a/new").status == 206)
            #expect(!FileManager.default.fileExists(atPath: tool.path("a/new")))
            #expect(try backup("b", "b/a").status == 206)
            let doubled = try backup("a", "b/a", "to")
            #expect(doubled.status == 206 && doubled.errors.contains("the same last name"))
            #expect(!FileManager.default.fileExists(atPath: tool.path("to")))
            #expect(try backup("c", ".").status == 206, "a tree onto itself")
            #expect(try tool.run("file", "backup", tool.path("c"), "--to", tool.store.path).status == 206)
            #expect(try backup("c/f", "new/below").status == 220)
            try tool.file("to/a")
            try tool.file("to/f")
            let occupied = try backup("a", "c/f", "to")
            #expect(occupied.status == 45)
            #expect(occupied.errors.contains("nothing below it was copied"))
            #expect(occupied.errors.contains("is not replaced"))
            #expect(try String(contentsOfFile: tool.path("to/f"), encoding: .utf8) == "content")
            #expect(try backup("none", "to").status == 220)
            #expect(try backup("to/f", "else").status == 206, "a plain file that was named")
            // A name that stands for a directory.
            let dot = try tool.shell("cd '\(tool.path("c"))' && $K file backup . --to ../dots")
            #expect(dot.status == 0, "\(dot.errors)")
            #expect(try tool.run("file", "cat", tool.path("dots/c/f")).text == "content")
        }
    }

    // MARK: Cut short

    @Test(
        "Killed in the midst, it can be run again, and nothing is left of the first time", arguments: [SIGKILL, SIGINT])
    func killed(signal: Int32) throws {
        try withTool { (tool) throws in
            let large = tool.path("tree/large")
            try tool.file("tree/small")
            #expect(try tool.shell("head -c 200000000 /dev/zero | $K file write '\(large)'").status == 0)
            let process = Process()
            process.executableURL = Tool.executable
            process.arguments = ["file", "backup", tool.path("tree"), "--to", tool.path("copies")]
            process.environment = tool.environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try withoutHeldSignals { try process.run() }
            let copies = tool.path("copies/tree")
            while process.isRunning, (try? tool.unfinished(in: copies).isEmpty) != false { sched_yield() }
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            if signal == SIGINT { #expect(try tool.unfinished(in: copies).isEmpty) }
            let again = try tool.run("file", "backup", tool.path("tree"), "--to", tool.path("copies"), "--json")
            #expect(again.status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: copies) == ["large"])
            #expect(FileManager.default.contentsEqual(atPath: large, andPath: copies + "/large"))
        }
    }

    @Test("Neither files nor output have a trace of the passphrase, and nothing is shown where nobody watches")
    func traces() throws {
        try withTool { (tool) throws in
            let scanner = TraceScanner(texts: ["passphrase": Self.passphrase])
            try tool.file("tree/f", tool.bytes(3_000_000))
            #expect(try tool.run("file", "protect", "--recursive", tool.path("tree")).status == 0)
            #expect(
                try tool.run("file", "backup-key", "--output", tool.path("tree/key"), input: Self.twice).status == 0)
            let outcome = try tool.run("file", "backup", tool.path("tree"), "--to", tool.path("copies"))
            #expect(outcome.errors.isEmpty)
            try withTool { (other) throws in
                for (input, status) in [(Self.once, Int32(0)), (Tool.lines("correct horse batterx"), 51)] {
                    let outcome = try other.run(
                        "file", "restore", tool.path("copies/tree"), "--key", tool.path("tree/key"), input: input)
                    #expect(outcome.status == status)
                    #expect(scanner.traces(in: outcome.text + outcome.errors).isEmpty)
                }
                for directory in ["data", "state", "tmp"] {
                    #expect(try scanner.traces(below: other.home.appendingPathComponent(directory)) == [:])
                }
            }
            for directory in ["data", "state", "tmp", "tree", "copies"] {
                #expect(try scanner.traces(below: tool.home.appendingPathComponent(directory)) == [:])
            }
            let watched = try TerminalSession(tool, "file", "backup", tool.path("tree"), "--to", tool.path("watched"))
            #expect(try watched.end() == 0)
            #expect(watched.transcript.contains("Backing up  ["))
            #expect(watched.transcript.contains("2/2 files"))
        }
    }
}
