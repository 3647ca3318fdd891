internal import CKeychainLinux
internal import Glibc
internal import KeychainSystem

/// A program that was started with one end of a socket as its standard input and output.
///
/// Its owner calls ``end``, once.
final class ProgramRun {
    /// The errno of the failure to start it.
    struct CannotStart: Error {
        let code: Int32
    }

    /// The status of its end, as wait(2) packs it; nil: another part of this process waited for it.
    typealias Status = Int32?

    /// Our end.
    let socket: Int32
    private let pid: pid_t
    /// The descriptor of the process; -1 before Linux 5.3 and where a sandbox does not have it.
    private let process: Int32

    /// - Parameters:
    ///   - path: An absolute path.
    ///   - variables: The whole of the program's environment.
    init(_ path: String, variables: [String: String]) throws(CannotStart) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw CannotStart(code: errno) }
        defer { close(ends[1]) }
        let discard = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard discard >= 0 else {
            let code = errno
            close(ends[0])
            throw CannotStart(code: code)
        }
        defer { close(discard) }
        var pid: pid_t = 0
        let failure = ProgramStart.spawn(path, [], variables, (ends[1], ends[1], discard), &pid)
        guard failure == 0 else {
            close(ends[0])
            throw CannotStart(code: failure)
        }
        var process: Int32 = -1
        if ckeychain_open_process(pid, &process) != 0 { process = -1 }
        (socket, self.pid, self.process) = (ends[0], pid, process)
    }

    /// Closes our end and makes sure that the process is gone when this returns.
    ///
    /// - Parameters:
    ///   - isDone: Whether the program was told to end by itself.
    ///   - limit: How long each step may take: that it ends by itself, and that it does so at SIGTERM.
    func end(isDone: Bool, limit: Duration) -> Status {
        defer {
            if process >= 0 { close(process) }
            close(socket)
        }
        shutdown(socket, Int32(SHUT_WR))
        if isDone, awaitEnd(limit) { return reap() }
        signal(SIGTERM)
        if !awaitEnd(limit) { signal(SIGKILL) }
        return reap()
    }

    /// - Returns: whether it has ended.
    private func awaitEnd(_ limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        // Without a descriptor of the process the end of its output has to do. Its last output is not read.
        var waiting = pollfd(
            fd: process >= 0 ? process : socket, events: Int16(process >= 0 ? POLLIN : 0), revents: 0)
        while poll(&waiting, 1, Wait.milliseconds(until: deadline)) <= 0 {
            if ContinuousClock.now >= deadline { return false }
        }
        return true
    }

    /// Only while it is ours to wait for: later its number may be another's.
    private func signal(_ number: Int32) {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return }
        kill(pid, number)
    }

    private func reap() -> Status {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            if errno != EINTR { return nil }
        }
        return status
    }
}
