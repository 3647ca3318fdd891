import Foundation
import Testing

/// A terminal whose other end the test holds.
struct PseudoTerminal {
    let person: FileHandle
    let program: FileHandle

    /// Glibc's own functions for this are hidden from Swift; the kernel's requests are TIOCSPTLCK and TIOCGPTN.
    ///
    /// - Parameter columns: 0: it does not say how wide it is.
    init(columns: UInt16 = 0) throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &number) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw CocoaError(.fileReadUnknown) }
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
        person = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        program = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    }

    var echoes: Bool {
        var attributes = termios()
        tcgetattr(program.fileDescriptor, &attributes)
        return attributes.c_lflag & tcflag_t(ECHO) != 0
    }
}

/// The threads that run tests hold every signal back, and a process inherits that from the thread that starts it.
func withoutHeldSignals(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
}

/// The command with a person: it asks at the terminal and is answered there.
final class TerminalSession {
    private let terminal: PseudoTerminal
    private let process = Process()
    /// Everything that was on the screen.
    private(set) var transcript = ""

    /// - Parameters:
    ///   - program: nil: the command.
    ///   - input: What comes from a pipe; nil: the person types.
    ///   - showsOutput: Otherwise only errors are on the screen.
    init(
        _ tool: Tool, program: String? = nil, words arguments: [String], input: Data? = nil, showsOutput: Bool = false,
        columns: UInt16 = 0
    ) throws {
        terminal = try PseudoTerminal(columns: columns)
        process.executableURL = program.map { URL(fileURLWithPath: $0) } ?? Tool.executable
        process.arguments = arguments
        process.environment = tool.environment.merging(["K": Tool.executable.path]) { $1 }
        process.standardInput = terminal.program
        process.standardOutput = showsOutput ? terminal.program : FileHandle.nullDevice
        process.standardError = terminal.program
        if let input {
            let pipe = Pipe()
            process.standardInput = pipe
            try pipe.fileHandleForWriting.write(contentsOf: input)
            try pipe.fileHandleForWriting.close()
        }
        try withoutHeldSignals { try process.run() }
    }

    convenience init(_ tool: Tool, _ arguments: String...) throws { try self.init(tool, words: arguments) }

    /// What was on the screen, line by line.
    var lines: [String] { transcript.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init) }

    /// ^D.
    func endInput(at question: String) throws { try answer(question, "\u{4}", lineEnd: "") }

    var echoes: Bool { terminal.echoes }

    /// Waits for a question and answers it.
    func answer(_ question: String, _ line: String, lineEnd: String = "\n") throws {
        let start = transcript.endIndex
        while !transcript[start...].contains(question) {
            guard try readMore() || process.isRunning else {
                Issue.record("the command ended before it asked: \(question)")
                return
            }
        }
        try terminal.person.write(contentsOf: Data((line + lineEnd).utf8))
    }

    /// Waits for the end of the command, with the screen read to its end.
    ///
    /// - Returns: the exit status.
    func end() throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(120)
        // What nobody reads would stop the command when the terminal is full.
        while process.isRunning {
            _ = try readMore()
            if ContinuousClock.now > deadline {
                Issue.record("the command does not end: \(transcript)")
                process.terminate()
            }
        }
        process.waitUntilExit()
        while try readMore() {}
        return process.terminationStatus
    }

    /// - Returns: false if nothing came for a tenth of a second.
    private func readMore() throws -> Bool {
        var waiting = pollfd(fd: terminal.person.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 100) > 0 else { return false }
        let bytes = terminal.person.availableData
        transcript += String(decoding: bytes, as: UTF8.self)
        return !bytes.isEmpty
    }
}
