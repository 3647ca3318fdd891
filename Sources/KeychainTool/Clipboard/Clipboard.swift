internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainRun

/// The clipboard of the desktop.
enum Clipboard {
    /// Puts a secret into the clipboard for a time. A process that outlives this one takes care of it.
    ///
    /// - Throws: a ``ToolFailure`` if there is no clipboard, or it did not take the secret.
    static func put(_ secret: SecretBytes, for time: ClipTime) throws(ToolFailure) {
        let program = try ClipboardProgram.found(ProcessInfo.processInfo.environment)
        var input: [Int32] = [-1, -1]
        var answer: [Int32] = [-1, -1]
        guard pipe(&input) == 0, pipe(&answer) == 0 else {
            throw ToolFailure(message: "cannot make a pipe: \(String(cString: strerror(errno)))")
        }
        defer { close(answer[0]) }
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(discard) }
        _ = try SpawnedProgram.start(
            "/proc/self/exe", ["clipboard-holder", "--program", program.rawValue, "--time", "\(time.seconds)s"],
            descriptors: (input[0], answer[1], discard), isApart: true)
        close(input[0])
        close(answer[1])
        let failure = Console.writeAll(secret, to: input[1])
        close(input[1])
        var taken: UInt8 = 0
        guard failure == 0, read(answer[0], &taken, 1) == 1 else {
            throw ToolFailure(message: "\(program.rawValue) did not take the secret: is the desktop within reach here?")
        }
    }

    /// Asks the terminal to put a secret into the clipboard of the person's machine (OSC 52). A program cannot see
    /// whether the secret is still there later, so it stays.
    static func askTerminal(_ secret: SecretBytes) throws(ToolFailure) {
        let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw ToolFailure(message: "there is no terminal that could be asked (--osc52)")
        }
        defer { close(terminal) }
        let buffer = SecretBuffer()
        buffer.append("\u{1b}]52;c;")
        buffer.appendBase64(of: secret)
        buffer.append("\u{7}")
        guard Console.writeAll(buffer.secret(), to: terminal) == 0 else {
            throw ToolFailure(message: "cannot write to the terminal: \(String(cString: strerror(errno)))")
        }
    }
}
