package import KeychainModel

/// A keychain as its watcher sees it.
package protocol LockableStore {
    /// - Throws: `.noPasscode` or `.itemNotFound` if there is nothing that could be locked.
    func lock(_ request: LockRequest) throws(KeychainError)
    /// Says that the watcher is there, and will be for the next minute.
    ///
    /// - Throws: as ``lock(_:)``.
    func renewLease() throws(KeychainError)
}
