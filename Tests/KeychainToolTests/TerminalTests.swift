import Foundation
import Testing

@testable import KeychainTool

/// What a person sees, and what only a person does.
@Suite struct TerminalTests {
    private static let add = ["add", "generic", "--service", "s", "--account", "a"]

    @Test("At a terminal a secret has a line of its own; elsewhere not a byte is added", arguments: ["line", "line\n"])
    func secret(secret: String) throws {
        try withTool { (tool) throws in
            try tool.run(words: Self.add, input: Data(secret.utf8))
            let shown = try TerminalSession(tool, words: ["get", "generic"], showsOutput: true)
            #expect(try shown.end() == 0)
            #expect(shown.lines == ["line", ""])
            #expect(try tool.run("get", "generic").text == secret)
        }
    }

    @Test("A mistake on the command line is shown broken between words")
    func mistake() throws {
        try withTool { (tool) throws in
            let session = try TerminalSession(tool, words: ["add", "x", "--accessible", "wrong"], columns: 80)
            #expect(try session.end() == 64)
            #expect(session.lines.allSatisfy { $0.count <= 80 }, "\(session.lines)")
            #expect(session.transcript.contains("when-passcode-set"))
        }
    }

    @Test(
        "A person who stores a line with its end is told so; nobody else is, and no text of several lines is meant",
        arguments: [("hunter2\n", true), ("hunter2", false), ("two\nlines\n", false), ("\n\n", false)])
    func lineEnd(secret: String, isTold: Bool) throws {
        try withTool { (tool) throws in
            #expect(try tool.run(words: Self.add, input: Data(secret.utf8)).errors.isEmpty)
            let session = try TerminalSession(tool, words: Self.add + ["--update"], input: Data(secret.utf8))
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("ends with a line feed") == isTold)
            #expect(try tool.run("get", "generic").text == secret)
        }
    }

    @Test("The table has the time of this place, and JSON that of Greenwich", arguments: ["Asia/Tokyo", ""])
    func localTime(zone: String) throws {
        try withTool { (tool) throws in
            var tool = tool
            try tool.run(words: Self.add, input: Data([1]))
            tool.variables["TZ"] = zone
            let modified = try #require(try tool.run("find", "--json").objects.first?["modified"] as? String)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let local = try style.parse(modified).addingTimeInterval(zone.isEmpty ? 0 : 9 * 3600)
            let shown = local.formatted(style).prefix(16).replacing("T", with: " ")
            #expect(try tool.run("find").text.hasSuffix("  \(shown)\n"))
        }
    }

    @Test("Columns stand under each other, also with characters that take two columns or none")
    func wideCharacters() throws {
        try withTool { (tool) throws in
            for (service, account) in [("mail.example", "alice"), ("日本語サービス", "ユーザー🔑"), ("cafe\u{301}", "a")] {
                try tool.run(
                    "add", "generic", "--service", service, "--account", account, "--label",
                    String(repeating: "字", count: 50))
            }
            let shown = try tool.run("find").text.split(separator: "\n").dropFirst().map { $0.prefix { $0 != "字" } }
            #expect(
                shown == [
                    "generic  keychain  cafe\u{301}            a           ",
                    "generic  keychain  mail.example    alice       ",
                    "generic  keychain  日本語サービス  ユーザー🔑  ",
                ])
            #expect(try tool.run("find").text.contains("  " + String(repeating: "字", count: 19) + "…  when-unlocked"))
        }
    }

    @Test("At a narrow terminal messages and reports are broken between words")
    func narrow() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            for command in [
                ["get", "generic", "--service", "not there", "--account", "nobody"], ["status", "--verbose"],
            ] {
                let session = try TerminalSession(tool, words: command, showsOutput: true, columns: 40)
                _ = try session.end()
                #expect(session.lines.count > 2)
                let words = Set(session.lines.flatMap { $0.split(separator: " ") })
                let wide = try tool.run(words: command)
                #expect(words == Set((wide.text + wide.errors).split(whereSeparator: \.isWhitespace)))
                #expect(session.lines.allSatisfy { $0.count <= 40 || !$0.dropFirst(12).contains(" ") })
                #expect(wide.errors.count { $0 == "\n" } <= 1)
            }
        }
    }

    @Test("A name with line feeds cannot forge a message: each message is one line, or indented after the first")
    func forgedLines() throws {
        try withTool { (tool) throws in
            let forged = "a\n1 file protected (4 bytes)\nkeychainctl: everything is protected"
            let file = try tool.file("tree/" + forged)
            try FileManager.default.linkItem(atPath: file, toPath: tool.path("tree/b"))
            let outcome = try tool.run("file", "protect", "--recursive", tool.path("tree"))
            #expect(outcome.status != 0)
            for group in [forged, "other"] { try tool.asApp([group], .add()) }
            let ambiguous = try tool.run("get", "generic")
            let absent = try tool.run("get", "generic", "--service", forged)
            let all = (outcome.errors + ambiguous.errors + absent.errors).split(separator: "\n")
            let lines = all.filter { !$0.hasPrefix("  ") }
            #expect(lines.count == 4)
            #expect(all.count == 4 + 3)  // the table of the two that match
            #expect(lines.allSatisfy { $0.hasPrefix("keychainctl: ") && !$0.hasPrefix("keychainctl: everything") })
            for argument in ["--\(forged)\u{1b}[2J", "--port=\(forged)", forged] {
                let mistake = try tool.run("find", argument, "x")
                #expect(mistake.status == 64)
                #expect(mistake.errors.contains("\\u{a}keychainctl: everything"))
                #expect(!mistake.errors.contains("\nkeychainctl: ") && !mistake.errors.contains("\u{1b}"))
                #expect(mistake.errors.contains("\nUsage: keychainctl find"))
            }
            let session = try TerminalSession(
                tool, words: ["get", "generic", "--service", "x keychainctl: everything is fine"], columns: 52)
            _ = try session.end()
            #expect(session.lines[1].hasPrefix("  keychainctl: everything"))
        }
    }

    @Test("^\\ at a question ends the command as it ends others, and shows no memory")
    func quit() throws {
        try withTool { (tool) throws in
            let person = """
                import os, pty, signal
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                signal.alarm(120)
                child, terminal = pty.fork()
                if child == 0: os.execvp(os.environ["K"], ["keychainctl", "add", "s"])
                screen = b""
                while b"Secret" not in screen: screen += os.read(terminal, 4096)
                os.write(terminal, b"\\x1c")
                try:
                    while True:
                        more = os.read(terminal, 4096)
                        if not more: break
                        screen += more
                        if b"rashed" in screen: break
                except OSError: pass
                if b"rashed" in screen: os.kill(child, 9)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), b"rashed" in screen)
                """
            try Data(person.utf8).write(to: tool.home.appendingPathComponent("person.py"))
            #expect(try tool.shell("python3 $HOME/person.py").text == "-3 False\n")
        }
    }

    @Test("What is locked or wrong has a colour at a terminal, unless the person wants none")
    func colors() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.setPasscode()
            try tool.run("lock", "--now")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.store.path)
            for (command, words) in [
                ("status", "\u{1b}[33mlocked\u{1b}[m: what is"), ("doctor", "\u{1b}[33mwarning\u{1b}[m  "),
            ] {
                for (name, value) in [("TERM", "xterm"), ("TERM", "dumb"), ("NO_COLOR", "1")] {
                    var tool = tool
                    tool.variables[name] = value
                    let session = try TerminalSession(tool, words: [command], showsOutput: true)
                    _ = try session.end()
                    #expect(session.transcript.contains(words) == (value == "xterm"), "\(command) \(value)")
                    #expect(session.transcript.contains("\u{1b}") == (value == "xterm"))
                }
                #expect(try !tool.run(command).text.contains("\u{1b}"))
            }
        }
    }
}
