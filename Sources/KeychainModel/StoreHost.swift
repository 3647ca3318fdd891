/// The kinds of programs that open a store.
package enum StoreHost: String, Sendable, Hashable, CaseIterable {
    /// Any number of processes of its user, each for itself.
    case embedded
    /// One process for all of them: the user's `keychaind`.
    case user
}
