package import KeychainModel

extension StoreLocation {
    /// Takes the keys away from every program at once, also if nothing of the store can be read.
    ///
    /// - Throws: `.notAvailable` if the lock cannot be written down, for those whose keys are in no keyring of this process's.
    package func lockUnopened(_ request: LockRequest) throws(KeychainError) {
        try Embedded.host.lockUnopened(self, request)
    }
}
