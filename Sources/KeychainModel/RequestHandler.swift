/// What answers requests, wherever it runs. The engine is one; nothing above it sees more of it.
package protocol RequestHandler: AnyObject, Sendable {
    /// - Throws: a `KeychainError` with the status that Apple's keychain gives in the same case. After any
    ///   error the store is as it was before the call.
    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply

    /// Waits until the lock has another epoch than `epoch` (``LockStatus/epoch``), or the time is over.
    ///
    /// - Returns: the present epoch.
    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64

    /// The process is about to end in the ordinary way.
    func prepareForExit()
}
