internal import CKeychainLinux
internal import Glibc

/// The end of a program.
package struct ProgramEnd {
    /// The exit status, or the negative number of a signal.
    private let status: Int32

    /// The signal that ended the program; nil: none did.
    var signal: Int32? { status < 0 ? -status : nil }

    /// - Returns: nil if the program has not ended.
    init?(_ process: Int32) throws(ProgramFailure) {
        var (hasEnded, status): (Int32, Int32) = (0, 0)
        let failure = ckeychain_await_program(process, &hasEnded, &status)
        guard failure == 0 else { throw ProgramFailure("wait for the command", failure) }
        guard hasEnded == 1 else { return nil }
        self.status = status
    }

    /// Ends this process by the signal that ended the program, so that a shell sees no difference.
    ///
    /// - Returns: the exit status for this process, if no signal ended the program.
    package func repeatHere() -> Int32 {
        guard status < 0 else { return status }
        Glibc.signal(-status, SIG_DFL)
        kill(getpid(), -status)
        // Its own signal does not end the first process of a container.
        return 128 - status
    }
}
