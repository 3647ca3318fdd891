package import KeychainModel

extension StoreLocation {
    /// Takes the keys away from every program at once, even if the store cannot be read.
    ///
    /// - Throws: `.notAvailable` if the lock cannot be written down for programs whose keys are in no keyring of this
    ///   process's.
    package func lockUnopened(_ request: LockRequest) throws(KeychainError) {
        try Embedded.host.lockUnopened(self, request)
    }
}
