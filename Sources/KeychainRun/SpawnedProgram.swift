internal import CKeychainLinux
internal import Glibc
internal import KeychainSystem

/// Another program that this one has started and waits for.
package final class SpawnedProgram {
    private let pid: pid_t
    private let process: Int32

    /// - Parameters:
    ///   - path: The absolute path of the program.
    ///   - arguments: The arguments behind its name.
    ///   - descriptors: Its standard input, output and error. It gets no others.
    ///   - isApart: Whether the program goes on when the terminal and this program end.
    /// - Throws: a ``ProgramFailure`` if the program cannot be started.
    package init(
        _ path: String, _ arguments: [String], variables: [String: String]? = nil,
        descriptors: (input: Int32, output: Int32, error: Int32), isApart: Bool = false
    ) throws(ProgramFailure) {
        var pid: pid_t = 0
        var process: Int32 = -1
        var failure = ProgramStart.spawn(path, arguments, variables, descriptors, isApart: isApart, &pid)
        if failure == 0 {
            failure = ckeychain_open_process(pid, &process)
            if failure != 0 {
                // No caller waits for the program after a failure.
                kill(pid, SIGKILL)
                waitpid(pid, nil, 0)
            }
        }
        guard failure == 0 else {
            throw ProgramFailure("start \(path)", failure)
        }
        (self.pid, self.process) = (pid, process)
    }

    deinit { close(process) }

    /// Waits for the program's end.
    ///
    /// - Parameters:
    ///   - milliseconds: How long; nil: for ever.
    ///   - descriptor: Ends the waiting when something can be read there.
    package func hasEnded(within milliseconds: Int32?, orReadable descriptor: Int32 = -1) -> Bool {
        var waiting = [process, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let count = poll(&waiting, 2, milliseconds ?? -1)
            if count >= 0 || errno != EINTR { return count > 0 && waiting[0].revents != 0 }
        }
    }

    /// Waits for the program's end, and releases its number.
    ///
    /// - Returns: its exit status, or 128 and the number of the signal that ended it.
    package func awaitEnd() -> Int32 { ProgramStart.awaitEnd(of: pid) }

    /// Call it before ``awaitEnd()``, as long as the number is the program's.
    package func terminate() { kill(pid, SIGTERM) }
}
