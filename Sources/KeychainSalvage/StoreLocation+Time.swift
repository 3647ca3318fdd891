internal import Foundation
internal import KeychainEngine
package import KeychainModel

extension StoreLocation {
    /// The latest date of expiry that a program has seen to have passed, if it is later than it is now. Up to then items are
    /// hidden that have not expired.
    package var seenTime: ExpiryDate? { SeenTime(EngineConfiguration(self)).ahead }

    /// Makes the keychain forget that date. Nothing else is changed.
    ///
    /// - Throws: `.notAvailable` if `lock-state` cannot be written.
    package func forgetSeenTime() throws(KeychainError) { try SeenTime(EngineConfiguration(self)).forget() }

    /// The stores whose unlocked keys are in the kernel's keyring of this user, if it has no room for another one's; nil: it
    /// has, or there is none. Stores of other mount namespaces have no name here.
    package var storesInFullKeyring: [String]? { KeyringRoom.storesIfFull }
}
