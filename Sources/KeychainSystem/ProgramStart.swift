internal import Glibc

/// The start of another program. It is no fork(2): Swift may do nothing between that and exec(2).
package enum ProgramStart {
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - arguments: The arguments behind the program's name.
    ///   - variables: The whole of its environment; nil: that of this process.
    ///   - descriptors: Its standard input, output and error.
    ///   - more: Its further descriptors, from number 3 on. It gets no others, even if this program forgot to mark them as
    ///     its own.
    ///   - isApart: Whether the program goes on when the terminal and this program end.
    ///   - pid: Is set to the number of the new process.
    /// - Returns: 0 or an errno value.
    package static func spawn(
        _ path: String, _ arguments: [String], _ variables: [String: String]?,
        _ descriptors: (input: Int32, output: Int32, error: Int32), more: [Int32] = [], isApart: Bool = false,
        _ pid: inout Int32
    ) -> Int32 {
        // Copies under spare numbers, so that no descriptor is overwritten before the program has it.
        let all = [descriptors.input, descriptors.output, descriptors.error] + more
        var spare: [Int32] = []
        defer { for descriptor in spare where descriptor >= 0 { close(descriptor) } }
        for descriptor in all {
            spare.append(fcntl(descriptor, F_DUPFD_CLOEXEC, 10))
            // A closed one is closed there too.
            guard spare.last! >= 0 || errno == EBADF else { return errno }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in spare.enumerated() {
            let failure =
                descriptor < 0
                ? posix_spawn_file_actions_addclose(&actions, Int32(number))
                : posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            guard failure == 0 else { return failure }
        }
        guard ckeychain_add_close_from(&actions, Int32(all.count)) == 0 else { return ENOMEM }
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
        // The file may be open for writing at this moment: in an upgrade, or in a process between its fork and its exec.
        for _ in 0..<50 {
            let failure =
                variables == nil
                ? posix_spawn(&pid, path, &actions, &attributes, &words, environ)
                : posix_spawn(&pid, path, &actions, &attributes, &words, &environment)
            if failure != ETXTBSY { return failure }
            usleep(10_000)
        }
        return ETXTBSY
    }

    /// Waits for a program's end.
    ///
    /// - Returns: its exit status, or 128 and the number of the signal that ended it.
    package static func awaitEnd(of pid: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 { if errno != EINTR { return 1 } }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }
}
