import Foundation
import Testing

@Suite struct PromptTests {
    /// Starts `add` at a terminal and returns when it has asked its question.
    private func startAdd(_ tool: Tool, at terminal: PseudoTerminal) throws -> Process {
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = ["add", "generic", "--service", "s", "--account", "a"]
        process.environment = tool.environment
        process.standardInput = terminal.program
        let errors = Pipe()
        process.standardError = errors
        try withoutHeldSignals { try process.run() }
        var asked = Data()
        while !asked.contains(UInt8(ascii: ":")) {
            let more = errors.fileHandleForReading.availableData
            if more.isEmpty { break }
            asked += more
        }
        #expect(String(decoding: asked, as: UTF8.self) == "Secret for a at s: ")
        return process
    }

    @Test("A secret typed at a terminal is not shown, and stored without the end of its line")
    func prompt() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            #expect(!terminal.echoes)
            try terminal.person.write(contentsOf: Data("typed\n".utf8))
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(terminal.echoes)
            #expect(try tool.run("get", "generic").text == "typed")
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

    @Test("The end of input instead of a line stores nothing")
    func endOfInput() throws {
        try withTool { (tool) throws in
            let terminal = try PseudoTerminal()
            let process = try startAdd(tool, at: terminal)
            try terminal.person.write(contentsOf: Data([4]))
            process.waitUntilExit()
            #expect(process.terminationStatus == 1)
            #expect(try tool.run("find").status == 44)
        }
    }
}
