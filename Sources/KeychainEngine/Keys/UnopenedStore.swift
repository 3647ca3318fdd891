internal import Foundation
package import KeychainModel

/// A store that need not open to be locked: its directory is enough, whatever is in it.
package enum UnopenedStore {
    /// Takes the keys away that are there while unlocked, at once, from every process, and gives nobody notice.
    ///
    /// - Throws: `.notAvailable` if the lock cannot be written down. The keys are gone from the user's keyring all the same.
    package static func lock(_ configuration: EngineConfiguration) throws(KeychainError) {
        guard let place = StorePlace(configuration.storeDirectory) else { return }
        func removeKeys() {
            KernelKeyring.ofUser?.removeAll { name in
                name.hasPrefix("keychain:") && name.contains(":\(place.name):")
                    && name.hasSuffix(":\(KeyTier.whenUnlocked.rawValue)")
            }
        }
        removeKeys()
        let file = configuration.storeDirectory.appendingPathComponent("lock-state")
        try LockStateFile(file, configuration.files).lock { record in
            record.lock(graceEnd: 0)
            removeKeys()
        }
    }
}
