internal import Glibc

/// The three descriptors that every program expects to have.
enum StandardStreams {
    /// Makes sure that output goes where it should and nowhere else.
    ///
    /// A descriptor that was closed when the program started would be given to the next file opened, which may
    /// be the keychain's own; it gets a place-holder that refuses reading or writing. And a reader that went
    /// away is an error to be handled, not a signal that ends the program in the middle of something.
    static func makeSafe() {
        signal(SIGPIPE, SIG_IGN)
        // Then a write beyond the limit of a file's size fails, and what was written can be removed.
        signal(SIGXFSZ, SIG_IGN)
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is handed out, and in this order that is the missing one.
            _ = open("/dev/null", mode)
        }
    }
}
