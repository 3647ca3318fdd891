/// An engine that answers requests, or a connection to one. The code above it sees no more of the engine.
package protocol RequestHandler: AnyObject, Sendable {
    /// - Throws: a `KeychainError` with the status that Apple's keychain gives in the same case. After any
    ///   error the store is as it was before the call.
    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply

    /// Waits until the lock has another epoch than `epoch` (``LockStatus/epoch``), or the time is over.
    ///
    /// - Returns: the present epoch.
    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64

    /// The present epoch of the lock, if it takes next to no time to look; nil where it has to be asked for.
    func lockEpoch() -> UInt64?

    /// Waits until the reader of fingers or faces has seen an enrolled person.
    ///
    /// No other function here waits for a person, and this one holds nothing meanwhile that another call needs.
    ///
    /// - Parameter hint: Called on this thread with words for the person.
    /// - Throws: the reader's reason for not saying yes.
    func verifyBiometry(
        for caller: Caller, _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket

    /// From now on a lock with notice is announced (``LockStatus/isLocking``), and waits for the end of the listener.
    func listenForLocks() throws(KeychainError) -> any LockListener

    /// From now on the caller is told when items of its groups may have changed.
    func listenForChanges(as caller: Caller) throws(KeychainError) -> any ChangeListener

    /// The process is about to end in the ordinary way.
    func prepareForExit()
}

extension RequestHandler {
    package func lockEpoch() -> UInt64? { nil }

    package func listenForChanges(as _: Caller) throws(KeychainError) -> any ChangeListener {
        throw KeychainError(.unimplemented, message: "nobody tells of changes here")
    }
}

/// A listener that is told of changes of items by any process. The listener belongs to one thread.
package protocol ChangeListener: AnyObject, Sendable {
    /// Waits until items may have changed, or the time is over.
    ///
    /// - Returns: whether they may have changed since the call before, or, at the first one, since it was made.
    func waitForChange(timeout: Duration) throws(KeychainError) -> Bool
}

/// A listener to which a lock with notice gives time.
package protocol LockListener: AnyObject, Sendable {
    /// Waits like ``RequestHandler/waitForLockChange(since:timeout:)``.
    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64

    /// Lets the lock go its way; so does the end of the object.
    func end()
}
