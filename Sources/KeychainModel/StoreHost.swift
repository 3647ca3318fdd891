/// The kinds of programs that open a store. The raw value is the word of the mark (docs/store-format.md).
package enum StoreHost: String, Sendable, Hashable, CaseIterable {
    /// Any number of processes of its user, each for itself.
    case embedded
    /// One process for all of them: the user's `keychaind`.
    case user
    /// One process for all users: the system's `keychaind`, which tells their programs apart.
    case system
    /// The command that moves the items to another host or back, until it is done. No other program opens the store then.
    case moving
    /// As ``moving``, but all items lie in the system's keychain by now, and those that are still here are to be deleted.
    case moved

    package var isMoving: Bool { self == .moving || self == .moved }

    /// Whether one process has the store alone.
    package var isDaemon: Bool { self != .embedded }
}
