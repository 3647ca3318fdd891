internal import CKeychainLinux
internal import Glibc
internal import KeychainModel

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
        var failure = Self.spawn(path, arguments, variables, descriptors, isApart, &pid)
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

    private static func spawn(
        _ path: String, _ arguments: [String], _ variables: [String: String]?,
        _ descriptors: (input: Int32, output: Int32, error: Int32), _ isApart: Bool, _ pid: inout pid_t
    ) -> Int32 {
        // Copies under spare numbers, so that no descriptor is overwritten before the program has it.
        let spare = [descriptors.input, descriptors.output, descriptors.error].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        defer { for descriptor in spare where descriptor >= 0 { close(descriptor) } }
        guard spare.allSatisfy({ $0 >= 0 }) else { return errno }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in spare.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        ckeychain_add_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let newSession = 0x80  // POSIX_SPAWN_SETSID, which Glibc's module hides
        // The program gets no rights that the kernel gave to this one by its file.
        let flags =
            Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF) | Int(POSIX_SPAWN_RESETIDS)
            | (isApart ? newSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var environment = variables.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] } ?? []
        defer { for text in words + environment { free(text) } }
        guard variables != nil else { return posix_spawn(&pid, path, &actions, &attributes, &words, environ) }
        return posix_spawn(&pid, path, &actions, &attributes, &words, &environment)
    }

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
    package func awaitEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    /// Call it before ``awaitEnd()``, as long as the number is the program's.
    package func terminate() { kill(pid, SIGTERM) }
}
