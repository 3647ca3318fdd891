internal import Glibc
internal import Synchronization

/// The three descriptors that every program expects to have.
package enum StandardStreams {
    private static let ignored = Mutex<[Int32]>([])

    /// The signals that this program ignores and its parent process does not.
    package static var signalsIgnoredHere: [Int32] { ignored.withLock { $0 } }

    /// Makes sure that output goes only where it should.
    ///
    /// The next file that opens, such as the keychain's own, would get a standard descriptor that is closed. So this
    /// one gets a place-holder that refuses reads or writes. A reader that has gone makes a write fail, and does not
    /// end the program.
    package static func makeSafe() {
        ignore(SIGPIPE)
        // Then a write beyond the limit of a file's size fails, and the program can remove the file.
        ignore(SIGXFSZ)
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // A file gets the lowest free number, which in this order is the missing one.
            _ = open("/dev/null", mode)
        }
    }

    /// Swift's handlers of these signals show memory, which may have secrets. A developer who wants them sets the
    /// variable.
    package static func endByCrashSignals() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            let before = signal(number, SIG_DFL)
            // The parent process ignores the signal.
            if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
        }
    }

    private static func ignore(_ number: Int32) {
        let before = signal(number, SIG_IGN)
        if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self) {
            ignored.withLock { $0.append(number) }
        }
    }
}
