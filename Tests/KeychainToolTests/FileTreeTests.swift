import Foundation
import Glibc
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The commands `file protect` and `file unprotect` on trees, and cut short.
@Suite struct FileTreeTests {
    /// 300 files in 30 directories, links that lead round in circles, a pipe and a socket.
    private func makeTree(_ tool: Tool) throws {
        for number in 0..<300 {
            try tool.file("tree/d\(number % 30)/e/f\(number)", Data("content \(number)\n".utf8))
        }
        for (link, target) in [
            ("tree/up", ".."), ("tree/d1/self", "."), ("tree/d2/e/top", "../../.."), ("tree/none", "x"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: tool.path(link), withDestinationPath: target)
        }
        #expect(mkfifo(tool.path("tree/pipe"), 0o600) == 0)
        #expect(mknod(tool.path("tree/socket"), S_IFSOCK | 0o600, 0) == 0)
    }

    private func contents(_ tool: Tool) throws -> [Data] {
        try (0..<300).map { try Data(contentsOf: URL(fileURLWithPath: tool.path("tree/d\($0 % 30)/e/f\($0)"))) }
    }

    @Test("A file whose name is no text is named, once, and left; all others are protected")
    func namesThatAreNoText() throws {
        try withTool { tool in
            try tool.file("tree/c")
            let make = "python3 -c \"open(b'tree/a\\xff', 'w').write('a'); open(b'tree/b\\xfe', 'w').write('b')\""
            #expect(try tool.shell("cd '\(tool.home.path)' && \(make)").status == 0)
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(outcome.status == 206)
            let lines = outcome.errors.split(separator: "\n").filter { $0.contains("UTF-8") }
            #expect(lines.count == 2 && outcome.errors.contains("a<ff>") && outcome.errors.contains("b<fe>"))
            #expect(try tool.run("file", "class", tool.path("tree/c")).text.hasPrefix("complete-until"))
        }
    }

    @Test("Files that are each in a directory of their own take no more descriptors than a process may have")
    func manyDirectories() throws {
        try withTool { (tool) throws in
            let script = """
                cd "$HOME" && for i in $(seq 300); do mkdir -p tree/d$i && echo c > tree/d$i/f; done &&
                ulimit -n 1024 && "$K" file protect --recursive tree && "$K" file unprotect --recursive tree
                """
            let outcome = try tool.shell(script)
            #expect(outcome.text == "300 files protected (600 bytes)\n300 files unprotected (600 bytes)\n")
        }
    }

    @Test("A tree is protected and comes back, whatever else is in it, and no link in it is followed")
    func tree() throws {
        try withTool { (tool) throws in
            try makeTree(tool)
            let outside = try tool.file("outside")
            let before = try contents(tool)
            let protected = try tool.run("file", "protect", "--recursive", "--json", tool.path("tree"))
            #expect(protected.status == 0, "\(protected.errors)")
            #expect(protected.object["protected"] as? Int == 300)
            #expect(protected.object["bytes"] as? Int == before.map(\.count).reduce(0, +))
            #expect(protected.object["failed"] as? Int == 0)
            let skipped = protected.object["skipped"] as? [String: Int]
            #expect(skipped?["symbolicLinks"] == 4 && skipped?["pipes"] == 1 && skipped?["sockets"] == 1)
            #expect(try contents(tool).allSatisfy { $0.prefix(4) == Data([0x89, 0x4b, 0x43, 0x46]) })
            #expect(try String(contentsOfFile: outside, encoding: .utf8) == "content")
            let again = try tool.run("file", "protect", "--recursive", "--json", tool.path("tree")).object
            #expect(again["protected"] as? Int == 0 && again["alreadyProtected"] as? Int == 300)
            let back = try tool.run("file", "unprotect", "--recursive", "--json", tool.path("tree")).object
            #expect(back["unprotected"] as? Int == 300 && back["plain"] as? Int == 0)
            #expect(try contents(tool) == before)
        }
    }

    @Test("What may not be read fails, is told, and the rest is done", .enabled(if: geteuid() != 0))
    func unreadable() throws {
        try withTool { (tool) throws in
            let (a, c) = (try tool.file("tree/a"), try tool.file("tree/c"))
            try tool.file("tree/b/x")
            for path in [a, tool.path("tree/b")] { chmod(path, 0) }
            defer { chmod(tool.path("tree/b"), 0o700) }
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(outcome.status == 220)
            #expect(outcome.text == "1 file protected (7 bytes); 2 failed\n")
            #expect(outcome.errors.contains("\(a): cannot open it: Permission denied"), "\(outcome.errors)")
            #expect(outcome.errors.contains("\(tool.path("tree/b")): cannot look into it"))
            #expect(try tool.run("file", "cat", c).text == "content")
        }
    }

    @Test("Names that are not text are told of, and the rest is done")
    func oddNames() throws {
        try withTool { (tool) throws in
            #expect(
                try tool.shell("mkdir \"$HOME/t\" && cd \"$HOME/t\" && touch a \"$(printf 'b\\377')\" c").status == 0)
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("t"))
            #expect(outcome.status == 206)
            #expect(outcome.errors.contains("UTF-8"))
            #expect(outcome.text == "2 files protected (0 bytes); 1 failed\n")
        }
    }

    @Test("The status is that of the first failure, and every other file is done")
    func firstFailure() throws {
        try withTool { (tool) throws in
            let (one, other) = (try tool.file("tree/a"), tool.path("none"))
            for (paths, status) in [([other, tool.path("tree")], 220), ([tool.path("tree"), other], 206)] {
                #expect(try tool.run(words: ["file", "protect"] + paths + [one]).status == status)
            }
            #expect(try tool.run("file", "class", one).text.hasPrefix("complete-until"))
        }
    }

    @Test("Everything happens in the order of the names")
    func order() throws {
        try withTool { (tool) throws in
            for name in ["b/z", "b/a", "a", "c", "B"] {
                let path = try tool.file("tree/\(name)")
                try FileManager.default.linkItem(
                    atPath: path, toPath: tool.path(name.replacingOccurrences(of: "/", with: "-")))
            }
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            let names = outcome.errors.split(separator: "\n").compactMap { line in
                line.split(separator: ":").dropFirst().first?.split(separator: "/").last.map(String.init)
            }
            #expect(names == ["B", "a", "a", "z", "c"])
        }
    }

    // MARK: Cut short

    /// Starts to protect or unprotect a large file, and waits until there is something unfinished.
    private func interrupt(_ tool: Tool, _ words: [String], with signal: Int32) throws {
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = ["file"] + words
        process.environment = tool.environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try withoutHeldSignals { try process.run() }
        while process.isRunning, try tool.unfinished(in: tool.home.path).isEmpty { sched_yield() }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
    }

    @Test(
        "Killed in the midst, it can be run again, and nothing is left of the first time", arguments: [SIGKILL, SIGINT])
    func killed(signal: Int32) throws {
        try withTool { (tool) throws in
            let large = tool.path("large")
            #expect(
                try tool.shell("head -c 200000000 /dev/zero > '\(large)' && $K file write \"$HOME/warm-up\"").status
                    == 0)
            for verb in ["protect", "unprotect"] {
                try interrupt(tool, [verb, large], with: signal)
                if signal == SIGINT { #expect(try tool.unfinished(in: tool.home.path).isEmpty) }
                let again = try tool.run("file", verb, large)
                #expect(again.status == 0)
                #expect(try tool.unfinished(in: tool.home.path).isEmpty)
            }
            #expect(try tool.shell("head -c 200000000 /dev/zero | cmp - '\(large)'").status == 0)
        }
    }

    @Test("Killed among many small files, it is run again until all are done, and nothing is lost or left")
    func killedAmongMany() throws {
        try withTool { (tool) throws in
            #expect(try tool.run("file", "write", tool.path("warm-up")).status == 0)
            for number in 0..<1500 { try tool.file("tree/d\(number % 7)/f\(number)", Data("content \(number)".utf8)) }
            let words = ["protect", "--recursive", tool.path("tree")]
            var wasKilled = 0
            for pause in [30_000, 60_000, 90_000] as [useconds_t] {
                let process = Process()
                process.executableURL = Tool.executable
                process.arguments = ["file"] + words
                process.environment = tool.environment
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try withoutHeldSignals { try process.run() }
                while process.isRunning, try tool.unfinished(in: tool.path("tree/d0")).isEmpty { sched_yield() }
                usleep(pause)
                if process.isRunning {
                    kill(process.processIdentifier, SIGKILL)
                    wasKilled += 1
                }
                process.waitUntilExit()
            }
            let last = try tool.run(words: ["file"] + words + ["--json"])
            #expect(last.status == 0, "\(last.errors)")
            let (done, left) = (last.object["protected"] as? Int ?? 0, last.object["alreadyProtected"] as? Int ?? 0)
            #expect(done + left == 1500)
            for number in 0..<7 { #expect(try tool.unfinished(in: tool.path("tree/d\(number)")).isEmpty) }
            #expect(
                try tool.run("file", "fsck", "--recursive", tool.path("tree")).text.hasPrefix(
                    "1500 protected files checked: all intact"))
            #expect(try tool.run("file", "unprotect", "--recursive", tool.path("tree")).status == 0)
            for number in 0..<1500 {
                let url = URL(fileURLWithPath: tool.path("tree/d\(number % 7)/f\(number)"))
                #expect(try Data(contentsOf: url) == Data("content \(number)".utf8))
            }
        }
    }

    @Test("A file that is named twice is converted once")
    func namedTwice() throws {
        try withTool { (tool) throws in
            let file = try tool.file("f")
            let outcome = try tool.run("file", "protect", file, file, tool.path("./f"))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text == "1 file protected (7 bytes); 2 protected already\n")
        }
    }

    @Test("With --dry-run it is said what would be done, and nothing is")
    func dryRun() throws {
        try withTool { (tool) throws in
            for name in ["a", "b/c"] { try tool.file("tree/\(name)", tool.bytes(1000)) }
            try FileManager.default.createSymbolicLink(atPath: tool.path("tree/link"), withDestinationPath: "a")
            let before = try Data(contentsOf: URL(fileURLWithPath: tool.path("tree/a")))
            let words = ["file", "protect", "--recursive", tool.path("tree"), "--dry-run"]
            let outcome = try tool.run(words: words)
            #expect(outcome.status == 0)
            let lines = outcome.text.split(separator: "\n").map(String.init)
            #expect(
                lines[0] == "would protect \(tool.path("tree/a"))"
                    && lines[1] == "would protect \(tool.path("tree/b/c"))")
            #expect(lines[2] == "would protect 2 files (2 KiB); skipped: 1 symbolic link")
            #expect(lines[3].contains("more, and up to ") && lines[3].hasSuffix(": enough"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: tool.path("tree/a"))) == before)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path), "a rehearsal makes no store")
            #expect(try tool.run("file", "protect", tool.path("tree/a")).status == 0)
            let json = try tool.run(words: words + ["--json"]).object
            #expect(json["dryRun"] as? Bool == true && json["files"] as? Int == 1 && json["bytes"] as? Int == 1000)
            #expect(json["alreadyProtected"] as? Int == 1 && json["failed"] as? Int == 0)
            let disk = try #require((json["disks"] as? [[String: Any]])?.first)
            #expect(disk["enough"] as? Bool == true && disk["growth"] is Int && disk["secondTime"] as? Int == 8192)
            let back = try tool.run("file", "unprotect", "--recursive", "--dry-run", "--quiet", tool.path("tree"))
            #expect(back.text.hasPrefix("would unprotect 1 file ("))
        }
    }

    @Test("A tree for which the disk has no space is refused before its first file is touched")
    func noSpace() throws {
        try withTool { (tool) throws in
            let small = try tool.file("tree/a")
            let large = try tool.file("tree/b")
            var status = statvfs()
            #expect(statvfs(large, &status) == 0)
            let free = off_t(status.f_bavail) * off_t(status.f_frsize)
            guard truncate(large, free + 1 << 30) == 0 else { return }  // the file system has no files as large
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(outcome.status == 222)
            #expect(outcome.errors.contains("2 files take") && outcome.errors.contains("nothing was changed"))
            #expect(try String(contentsOfFile: small, encoding: .utf8) == "content")
            // What is done already needs no space.
            #expect(truncate(large, 7) == 0)
            #expect(try tool.run("file", "protect", "--class", "none", large).status == 0)
            #expect(truncate(large, free + 1 << 30) == 0)
            let again = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(again.text.hasPrefix("1 file protected (7 bytes); 1 protected already"), "\(again.errors)")
        }
    }

    @Test("Nothing is shown where nobody watches; at a terminal the files and bytes are")
    func progress() throws {
        try withTool { (tool) throws in
            try tool.file("tree/a", tool.bytes(3_000_000))
            try tool.file("tree/b", tool.bytes(1_000_000))
            let quiet = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(quiet.errors.isEmpty)
            let watched = try TerminalSession(tool, "file", "unprotect", "--recursive", tool.path("tree"))
            #expect(try watched.end() == 0)
            #expect(watched.transcript.contains("Unprotecting  ["))
            #expect(watched.transcript.contains("2/2 files"))
            #expect(watched.transcript.contains("100%"))
            let silent = try TerminalSession(tool, "file", "protect", "--quiet", "--recursive", tool.path("tree"))
            #expect(try silent.end() == 0)
            #expect(silent.transcript.isEmpty)
        }
    }

    @Test("A person who protects files is told if nothing ever locks them; with a passcode there is nothing to tell")
    func neverLocked() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            let files = try ["a", "b"].map { try tool.file($0) }
            let without = try TerminalSession(tool, "file", "protect", files[0])
            #expect(try without.end() == 0)
            #expect(
                without.lines.suffix(2).first?.hasPrefix("note: no passcode is set, so nothing is ever locked") == true)
            try tool.setPasscode()
            let with = try TerminalSession(tool, "file", "protect", files[1])
            #expect(try with.end() == 0)
            #expect(!with.transcript.contains("note:"))
        }
    }
}

/// The commands `file …` while the keychain is locked, and with a daemon.
@Suite struct FileLockCommandTests {
    private func checkLocked(_ tool: Tool) throws {
        let (a, b, d, inactive) = (tool.path("a"), tool.path("b"), tool.path("d"), tool.path("inactive"))
        let classes = [
            (a, "complete"), (b, "complete-unless-open"), (inactive, "complete-when-user-inactive"), (d, "none"),
        ]
        for (path, name) in classes {
            #expect(try tool.run("file", "write", path, "--class", name, input: Data("content".utf8)).status == 0)
        }
        let plain = try tool.file("plain")
        #expect(try tool.run("lock").status == 0)
        for path in [a, b] {
            let outcome = try tool.run("file", "cat", path)
            #expect(outcome.status == 36)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("keychainctl unlock"))
        }
        let info = try tool.run("file", "info", "--json", a).objects.first
        #expect(info?["opens"] as? Bool == false && info?["refusal"] as? String == "locked")
        #expect(info?["isThisKeychain"] as? Bool == true)
        #expect(try tool.run("file", "cat", d, inactive).text == "contentcontent")
        #expect(try tool.run("file", "class", inactive).text == "complete-when-user-inactive \(inactive)\n")
        #expect(try tool.lockStatus["timeLeftAfterLock"] as? Int ?? 0 > 0)
        #expect(try tool.run("file", "class", a).text == "complete \(a)\n")
        #expect(try tool.run("file", "class", "--set", "none", a).status == 36)
        #expect(try tool.run("file", "write", a, input: Data("new".utf8)).status == 36)
        #expect(try tool.run("file", "protect", "--class", "complete", plain).status == 36)
        #expect(try String(contentsOfFile: plain, encoding: .utf8) == "content")
        #expect(try tool.run("lock", "--now").status == 0)
        #expect(try tool.run("file", "cat", inactive).status == 36)
        let second = try tool.run("file", "info", "--json", inactive).objects.first
        #expect(second?["class"] as? String == "complete-when-user-inactive" && second?["opens"] as? Bool == false)
        #expect(try tool.run("file", "unprotect", a, d).status == 36)
        #expect(try String(contentsOfFile: d, encoding: .utf8) == "content")
        // What comes while it is locked can be kept, and read later.
        #expect(try tool.run("file", "write", b, input: Data("new".utf8)).status == 0)
        #expect(try tool.unlock().status == 0)
        #expect(try tool.run("file", "cat", a, b).text == "contentnew")
    }

    @Test("What is locked is refused with 36, and nothing is changed", .enabled(if: Tool.sharesKeys))
    func locked() throws {
        try withPasscode { (tool) throws in try checkLocked(tool) }
    }

    @Test("With a daemon it is the same")
    func daemon() throws {
        try withTool { (tool) throws in
            let home = try DaemonOfHome(tool)
            defer { home.process.kill() }
            let tool = home.tool
            try tool.run("migrate", "--to", "user")
            let file = try tool.file("f")
            #expect(try tool.run("file", "protect", file).status == 53)
            try home.process.start()
            #expect(try tool.setPasscode().status == 0)
            try checkLocked(tool)
            let outcome = try tool.run("file", "protect", "--recursive", tool.home.path, "--quiet")
            // The daemon has that one open.
            #expect(outcome.status == 220 && outcome.errors.contains("/run/keychain/socket.lock: "))
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(try tool.run("status").status == 0)
        }
    }
}
