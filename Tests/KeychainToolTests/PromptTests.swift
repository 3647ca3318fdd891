import Foundation
import Testing

@Suite struct PromptTests {
    private static let add = ["add", "generic", "--service", "s", "--account", "a"]

    /// Starts `add` at a terminal and returns when it has asked its question.
    private func startAdd(_ tool: Tool, at terminal: PseudoTerminal) throws -> Process {
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = Self.add
        process.environment = tool.environment
        process.standardInput = terminal.program
        // The question is for the person, wherever errors go.
        process.standardError = FileHandle.nullDevice
        try withoutHeldSignals { try process.run() }
        #expect(try awaitQuestion(at: terminal) == "Secret for a at s: ")
        return process
    }

    @Test("A secret typed at a terminal, twice, is not shown, and stored without the end of its line")
    func prompt() throws {
        try withTool { (tool) throws in
            let session = try TerminalSession(tool, words: Self.add)
            try session.answer("Secret for a at s: ", "typed")
            try session.answer("The same again: ", "typed")
            #expect(try session.end() == 0)
            #expect(session.echoes)
            #expect(!session.transcript.contains("typed"))
            #expect(session.transcript.contains("note: no passcode is set"))
            #expect(try tool.run("get", "generic").text == "typed")
            let update = try TerminalSession(tool, "update", "generic", "--service", "s")
            try update.answer("New secret for service s: ", "other")
            try update.answer("The same again: ", "typing mistake")
            #expect(try update.end() == 206)
            #expect(update.transcript.contains("the two secrets are not the same; nothing was changed"))
            #expect(try tool.run("get", "generic").text == "typed")
        }
    }

    @Test(
        "What is refused anyway is refused before anything is asked",
        arguments: [
            ("add generic --service s --account a", 45), ("update generic --service other", 44), ("unlock", 84),
            ("passcode change", 84), ("passcode remove", 84), ("passcode policy --idle-lock 5m", 84),
        ] as [(String, Int32)])
    func checksBeforeQuestions(command: String, status: Int32) throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let session = try TerminalSession(tool, words: command.split(separator: " ").map(String.init))
            #expect(try session.end() == status)
            #expect(session.lines.count == 2)
            #expect(session.transcript.hasPrefix("keychainctl: "))
        }
    }

    @Test("A passcode that is set already, and an old one that is wrong, are told of before a new one is asked for")
    func passcodeBeforeQuestions() throws {
        try withPasscode { (tool) throws in
            let second = try TerminalSession(tool, "passcode", "set")
            #expect(try second.end() == 45)
            let wrong = try TerminalSession(tool, "passcode", "change")
            try wrong.answer("Old passcode: ", "wrong")
            #expect(try wrong.end() == 51)
            #expect(!(second.transcript + wrong.transcript).contains("New passcode"))
            #expect(try tool.lockStatus["failedAttempts"] as? Int == 1)
        }
    }

    @Test("A signal at the prompt ends the program with the terminal as it was", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signal(number: Int32) throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            #expect(!terminal.echoes)
            kill(process.processIdentifier, number)
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == number)
            #expect(terminal.echoes)
            #expect(try tool.run("find").status == 44)
        }
    }

    @Test("^C at the prompt ends the program as it ends others, with the terminal as it was")
    func interruptKey() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            try terminal.person.write(contentsOf: Data("sec\u{3}".utf8))
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == SIGINT)
            #expect(terminal.echoes)
        }
    }

    @Test("^Z at the prompt stops the program with the terminal as it was, and afterwards it asks again")
    func stopKey() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            try terminal.person.write(contentsOf: Data("sec\u{1a}".utf8))
            var stopped = siginfo_t()
            #expect(waitid(P_PID, id_t(process.processIdentifier), &stopped, WSTOPPED) == 0)
            #expect(terminal.echoes)
            kill(process.processIdentifier, SIGCONT)
            try awaitQuestion(at: terminal)
            #expect(!terminal.echoes)
            try terminal.person.write(contentsOf: Data("ty\u{e4}\u{7f}ped\n".utf8))
            try awaitQuestion(at: terminal)
            try terminal.person.write(contentsOf: Data("typed\n".utf8))
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try tool.run("get", "generic").text == "typed")
        }
    }

    /// Starts a line of a shell that leads a session with this terminal.
    private func startShell(_ line: String, _ tool: Tool, at terminal: PseudoTerminal) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--ctty", "--wait", "sh", "-c", line]
        process.environment = tool.environment.merging(["K": Tool.executable.path]) { $1 }
        (process.standardInput, process.standardOutput) = (terminal.program, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        try withoutHeldSignals { try process.run() }
        try awaitQuestion(at: terminal)
        return process
    }

    @Test("^C at the prompt ends a script that the program is a part of")
    func interruptedScript() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let add = Self.add.joined(separator: " ")
            let shell = try startShell("$K \(add); echo on >$HOME/on", tool, at: terminal)
            try terminal.person.write(contentsOf: Data("sec\u{3}".utf8))
            shell.waitUntilExit()
            #expect(terminal.echoes)
            #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("on").path))
        }
    }

    @Test("After a stop from elsewhere nothing of the answer is shown, whatever the shell has made of the terminal")
    func silentAfterStop() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let add = Self.add.joined(separator: " ")
            let shell = try startShell("echo $$ >$HOME/pid; exec $K \(add)", tool, at: terminal)
            let text = try String(contentsOf: tool.home.appendingPathComponent("pid"), encoding: .utf8)
            let pid = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
            kill(pid, SIGSTOP)
            let stopped = "/proc/\(pid)/stat"
            while try !String(contentsOfFile: stopped, encoding: .utf8).contains(") T ") { usleep(1_000) }
            var modes = termios()
            tcgetattr(terminal.program.fileDescriptor, &modes)
            modes.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
            tcsetattr(terminal.program.fileDescriptor, TCSANOW, &modes)
            kill(pid, SIGCONT)
            let end = ContinuousClock.now + .seconds(60)
            while terminal.echoes {
                try #require(ContinuousClock.now < end)
                usleep(1_000)
            }
            try terminal.person.write(contentsOf: Data("typed\n".utf8))
            try awaitQuestion(at: terminal)
            try terminal.person.write(contentsOf: Data("typed\n".utf8))
            shell.waitUntilExit()
            #expect(try tool.run("get", "generic").text == "typed")
        }
    }

    /// - Returns: what was written up to the question.
    @discardableResult
    private func awaitQuestion(at terminal: PseudoTerminal) throws -> String {
        var asked = Data()
        while !asked.contains(UInt8(ascii: ":")) {
            let new = terminal.person.availableData
            try #require(!new.isEmpty, "the program has ended")
            asked += new
        }
        return String(decoding: asked, as: UTF8.self)
    }

    @Test("An empty line at a terminal is no secret")
    func emptyLine() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            try terminal.person.write(contentsOf: Data("\n".utf8))
            process.waitUntilExit()
            #expect(process.terminationStatus == 206)
            #expect(try tool.run("find").status == 44)
        }
    }

    @Test("The end of input instead of an answer cancels, on a line of its own")
    func endOfInput() throws {
        try withTool { (tool) throws in
            let add = try TerminalSession(tool, words: Self.add)
            try add.endInput(at: "Secret for a at s: ")
            #expect(try add.end() == 128)
            #expect(
                add.lines == ["Secret for a at s: ", "keychainctl: nothing was typed; nothing was changed", ""])
            #expect(try tool.run("find").status == 44)
            try tool.add("a")
            let delete = try TerminalSession(tool, "delete", "generic", "--all")
            try delete.endInput(at: "Type yes to go on: ")
            #expect(try delete.end() == 128)
            #expect(delete.lines.suffix(2) == ["keychainctl: everything is still there; nothing was changed", ""])
        }
    }
}
