internal import Glibc
internal import Synchronization

/// Whether this process was forked from one that had a keychain open, and has not become another program since.
enum ForkedChild {
    private static let flag = Atomic(false)
    private static let isWatching: Bool = pthread_atfork(nil, nil) { flag.store(true, ordering: .relaxed) } == 0

    static var isThis: Bool { flag.load(ordering: .relaxed) }

    /// Cheaper than comparing process ids, which is a system call at every request.
    static func watch() {
        precondition(isWatching, "the system has no memory for a fork handler")
    }
}
