package import Glibc

/// Other programs. None is started by fork(2): Swift may do nothing between that and exec(2).
package enum ProgramStart {
    /// Starts a program. It holds no signals back, and gets no rights that the kernel gave to this one by its file.
    ///
    /// - Parameters:
    ///   - variables: The whole of its environment; nil: that of this process.
    ///   - descriptors: Its descriptors, from its standard input on. It gets no others.
    ///   - isApart: Whether the program goes on when the terminal and this program end.
    /// - Returns: 0 or an errno value.
    package static func spawn(
        _ path: String, _ arguments: [String], variables: [String: String]?, descriptors: [Int32],
        isApart: Bool = false, _ pid: inout pid_t
    ) -> Int32 {
        // Copies under spare numbers, so that no descriptor is overwritten before the program has it.
        let spare = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        defer { for descriptor in spare where descriptor >= 0 { close(descriptor) } }
        guard spare.allSatisfy({ $0 >= 0 }) else { return errno }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in spare.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        _ = ckeychain_add_close_from(&actions, Int32(spare.count))
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let newSession = 0x80  // POSIX_SPAWN_SETSID, which Glibc's module hides
        let flags =
            Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF) | Int(POSIX_SPAWN_RESETIDS)
            | (isApart ? newSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var environment = variables.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] } ?? []
        defer { for text in words + environment { free(text) } }
        // The file may be open for writing at this moment: in an upgrade, or in a process between its fork and its exec.
        for _ in 0..<50 {
            let failure = environment.withUnsafeMutableBufferPointer { environment in
                let own = variables == nil ? environ : environment.baseAddress
                return posix_spawn(&pid, path, &actions, &attributes, &words, own)
            }
            if failure != ETXTBSY { return failure }
            usleep(10_000)
        }
        return ETXTBSY
    }

    /// Waits for a program's end.
    ///
    /// - Returns: its exit status, or 128 and the number of the signal that ended it.
    package static func awaitEnd(of pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 { if errno != EINTR { return 1 } }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }
}
