package import KeychainModel

extension StoreLocation {
    /// Makes the store that of this user's `keychaind`, in one step; a new one if there is none. Programs that have it
    /// open are refused from their next call on, and what was unlocked is locked.
    ///
    /// To be repeated if it was cut short.
    ///
    /// - Throws: `.notAvailable` if the files cannot be written.
    package func giveToUserDaemon() throws(KeychainError) { try Embedded.host.giveToDaemon(self) }

    /// Returns the store to the programs that use it. No daemon may have it open: a running one gives it up itself
    /// (``Request/giveUpStore``).
    ///
    /// - Throws: `.notAvailable` if a daemon has it open.
    package func takeFromUserDaemon() throws(KeychainError) { try Embedded.host.takeFromDaemon(self) }
}
