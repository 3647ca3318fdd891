internal import Glibc
internal import Synchronization

/// The three descriptors that every program expects to have.
enum StandardStreams {
    private static let ignored = Mutex<[Int32]>([])

    /// The signals that this program ignores and that it was not started with ignored.
    static var signalsIgnoredHere: [Int32] { ignored.withLock { $0 } }

    /// Makes sure that output goes where it should and nowhere else.
    ///
    /// A descriptor that was closed when the program started would be given to the next file opened, which may
    /// be the keychain's own; it gets a place-holder that refuses reading or writing. And a reader that went
    /// away is an error to be handled, not a signal that ends the program in the middle of something.
    static func makeSafe() {
        ignore(SIGPIPE)
        // Then a write beyond the limit of a file's size fails, and what was written can be removed.
        ignore(SIGXFSZ)
        endByCrashSignals()
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is handed out, and in this order that is the missing one.
            _ = open("/dev/null", mode)
        }
    }

    /// Swift's handlers of these signals offer a view of the memory, where secrets are. A developer who wants that sets
    /// the variable.
    private static func endByCrashSignals() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            let before = signal(number, SIG_DFL)
            // Ignored by the program that started this one.
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
