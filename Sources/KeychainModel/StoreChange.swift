/// Something that happened in a store, as subscribers are told.
package enum StoreChange: Sendable, Hashable {
    case lock(LockStatus)
    /// Items were added, changed or deleted. Several changes in a row may be told as one. An empty group, which only the
    /// store's owner is told of, means that it may have been any.
    case items(ItemClass, accessGroup: String)
}

/// The point up to which a listener has followed the changes of a store.
package struct ChangePosition: Sendable, Hashable {
    /// The epoch of the lock: ``LockStatus/epoch``.
    package var epoch: UInt64
    /// Counts the changes of items.
    package var revision: UInt64

    package init(epoch: UInt64, revision: UInt64) {
        self.epoch = epoch
        self.revision = revision
    }
}

/// An engine's functions for a daemon, beyond answers to requests.
package protocol ChangeSource: RequestHandler {
    /// Handles a request like ``RequestHandler/handle(_:from:)``, with so much memory for secrets.
    ///
    /// - Throws: the signal `.needsMemory` if that is too little.
    func handle(_ request: Request, from caller: Caller, mostBytes: Int) throws(KeychainError) -> Reply

    /// The changes so far.
    func position() throws(KeychainError) -> ChangePosition

    /// Waits until something has changed after `position`, or the time is over, or ``stopWaiting()``.
    ///
    /// - Parameter timeout: nil: no limit.
    func waitForChange(after position: ChangePosition, timeout: Duration?) throws(KeychainError) -> ChangePosition

    /// Ends every wait of ``waitForChange(after:timeout:)``, now and from now on.
    func stopWaiting()

    /// The changes after `position` that a caller may know: of items of its groups only.
    ///
    /// - Returns: and the position to go on from.
    func changes(
        after position: ChangePosition, for caller: Caller
    ) throws(KeychainError) -> (changes: [StoreChange], position: ChangePosition)

    /// Locks keys away that were unused for too long, or whose watcher is gone.
    ///
    /// - Returns: the time until the next look at the latest; nil: not before the next change.
    func lockIfDue() throws(KeychainError) -> Duration?

    /// Removes the items that have expired.
    ///
    /// - Returns: as ``lockIfDue()``.
    func removeExpiredIfDue() throws(KeychainError) -> Duration?

    /// Something in this process begins or ceases to lock the store with the session: ``LockStatus/isWatched``.
    func setWatched(_ isWatched: Bool)
}
