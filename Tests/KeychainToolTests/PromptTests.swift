import Foundation
import Testing

/// A terminal whose other end the test holds.
private struct PseudoTerminal {
    let person: FileHandle
    let program: FileHandle

    /// Glibc's own functions for this are hidden from Swift; the kernel's requests are TIOCSPTLCK and TIOCGPTN.
    init() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &number) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw CocoaError(.fileReadUnknown) }
        person = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        program = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    }

    var echoes: Bool {
        var attributes = termios()
        tcgetattr(program.fileDescriptor, &attributes)
        return attributes.c_lflag & tcflag_t(ECHO) != 0
    }
}

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

    /// The threads that run tests hold every signal back, and a process inherits that from the thread that starts it.
    private func withoutHeldSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
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
