package import KeychainModel

extension StoreLocation {
    /// Gives the store, or a new one, to this user's `keychaind`, in one step. Programs that have it open are refused
    /// from their next call on, and unlocked keys are locked.
    ///
    /// If the call was cut short, it is to be repeated.
    ///
    /// - Throws: `.notAvailable` if the files cannot be written.
    package func giveToUserDaemon() throws(KeychainError) { try Embedded.host.giveToDaemon(self) }

    /// Returns the store to the programs that use it. No daemon may have it open: a running one gives it up itself
    /// (``Request/giveUpStore``).
    ///
    /// - Throws: `.notAvailable` if a daemon has it open.
    package func takeFromUserDaemon() throws(KeychainError) { try Embedded.host.takeFromDaemon(self) }
}
