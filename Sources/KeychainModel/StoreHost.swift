/// The kinds of programs that open a store.
package enum StoreHost: String, Sendable, Hashable, CaseIterable {
    /// Any number of processes of its user, each for itself.
    case embedded
    /// One process for all of them: the user's `keychaind`.
    case user
    /// One process for all users: the system's `keychaind`, which tells their programs apart.
    case system

    package var isDaemon: Bool { self != .embedded }
}
