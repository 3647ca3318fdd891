internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The clipboard of the desktop.
package enum Clipboard {
    /// Puts a secret into the clipboard. A process that outlives this one takes care of it.
    ///
    /// - Parameter holder: The words by which this executable does what ``hold(_:seconds:orReadable:)`` says.
    /// - Throws: a ``ProgramFailure`` if there is no clipboard, or it did not take the secret.
    package static func put(
        _ secret: SecretBytes, holder: (ClipboardProgram) -> [String]
    ) throws(ProgramFailure) {
        let program = try ClipboardProgram.found(ProcessInfo.processInfo.environment)
        var input: [Int32] = [-1, -1]
        var answer: [Int32] = [-1, -1]
        guard pipe(&input) == 0, pipe(&answer) == 0 else { throw ProgramFailure("make a pipe", errno) }
        defer { close(answer[0]) }
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(discard) }
        _ = try SpawnedProgram(
            "/proc/self/exe", holder(program), descriptors: (input[0], answer[1], discard), isApart: true)
        close(input[0])
        close(answer[1])
        let failure = secret.withUnsafeBytes { $0.write(to: input[1]) }
        close(input[1])
        var taken: UInt8 = 0
        guard failure == 0, read(answer[0], &taken, 1) == 1 else {
            throw ProgramFailure(
                status: 1, "\(program.rawValue) did not take the secret: is the desktop within reach here?")
        }
    }

    /// Asks the terminal to put a secret into the clipboard of the person's machine (OSC 52). A program cannot see
    /// whether the secret is still there later, so it stays.
    package static func askTerminal(_ secret: SecretBytes) throws(ProgramFailure) {
        let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw ProgramFailure(status: 1, "there is no terminal that could be asked (--osc52)")
        }
        defer { close(terminal) }
        let buffer = SecretBuffer()
        buffer.append("\u{1b}]52;c;")
        buffer.appendBase64(of: secret)
        buffer.append("\u{7}")
        let failure = buffer.withUnsafeBytes { $0.write(to: terminal) }
        if failure != 0 { throw ProgramFailure("write to the terminal", failure) }
    }

    /// The work of the process that ``put(_:holder:)`` leaves behind: runs the clipboard program, and clears the clipboard
    /// in time.
    ///
    /// - Parameter signals: The secret is taken away at once when something can be read there.
    /// - Returns: whether the program took the secret.
    package static func hold(
        _ program: ClipboardProgram, seconds: Int, orReadable signals: Int32
    ) throws(ProgramFailure) -> Bool {
        let variables = ProcessInfo.processInfo.environment
        let discard = open("/dev/null", O_RDWR | O_CLOEXEC)
        let owner = try program.start(variables, input: STDIN_FILENO, discard: discard)
        // A program that cannot reach the display ends in this time.
        if owner.hasEnded(within: 300), owner.awaitEnd() != 0 { return false }
        guard write(STDOUT_FILENO, "1", 1) == 1 else { throw ProgramFailure("tell that the secret was taken", errno) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO] { dup2(discard, descriptor) }
        // The program's end means that the person has copied something else, which stays.
        guard !owner.hasEnded(within: Int32(seconds * 1000), orReadable: signals) else { return true }
        try program.clear(owner, variables, discard: discard)
        return true
    }
}
