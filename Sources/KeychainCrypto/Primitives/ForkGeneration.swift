internal import Glibc
internal import Synchronization

/// Tells a forked child from its parent. The kernel wipes keys in a child, and a key of zeros must not be used: what holds
/// one compares the number from when it was made with the present one.
package enum ForkGeneration {
    private static let forks = Atomic(0)
    private static let isCounting: Bool =
        pthread_atfork(nil, nil) { forks.add(1, ordering: .relaxed) } == 0

    /// Another number in a child than in its parent, if the parent has asked before. Cheaper than a process id, which is a
    /// system call each time.
    package static var current: Int {
        precondition(isCounting, "the system has no memory for a fork handler")
        return forks.load(ordering: .relaxed)
    }
}
