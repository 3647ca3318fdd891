internal import KeychainEngine
package import KeychainModel

extension StoreLocation {
    /// The latest date of expiry that a program has seen to have passed, if it is later than the present time. Until
    /// then the keychain hides items that have not expired.
    package var seenTime: ExpiryDate? { SeenTime(EngineConfiguration(self)).ahead }

    /// Makes the keychain forget that date. Nothing else is changed.
    ///
    /// - Throws: `.notAvailable` if `lock-state` cannot be written.
    package func forgetSeenTime() throws(KeychainError) { try SeenTime(EngineConfiguration(self)).forget() }

    /// The stores whose unlocked keys fill this user's keyring in the kernel; nil if the keyring has room, or there is
    /// no keyring. Stores of other mount namespaces have no name here.
    package var storesInFullKeyring: [String]? { KeyringRoom.storesIfFull }
}
