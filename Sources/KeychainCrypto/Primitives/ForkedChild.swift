internal import Glibc
internal import Synchronization

/// Whether this process was forked from one that held keys, and has not become another program since: the kernel has
/// wiped them there, and a key of zeros must not be used.
package enum ForkedChild {
    private static let forks = Atomic(0)
    private static let isWatching: Bool =
        pthread_atfork(nil, nil) { forks.add(1, ordering: .relaxed) } == 0

    package static var isThis: Bool { generation != 0 }

    /// Another number in a child than in its parent.
    package static var generation: Int { forks.load(ordering: .relaxed) }

    /// Cheaper than comparing process ids, which is a system call at every request.
    package static func watch() {
        precondition(isWatching, "the system has no memory for a fork handler")
    }
}
