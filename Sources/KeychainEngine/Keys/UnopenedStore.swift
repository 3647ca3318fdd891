internal import Foundation
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// A store that need not open to be locked: its directory is enough, whatever is in it.
package enum UnopenedStore {
    /// Takes the keys away that are there while unlocked, from every process. Where the keybag does not open either, at
    /// once and without notice.
    ///
    /// - Throws: `.noPasscode`; `.notAvailable` if the lock cannot be written down. The keys are gone from the user's
    ///   keyring all the same.
    package static func lock(_ configuration: EngineConfiguration, _ request: LockRequest) throws(KeychainError) {
        do throws(KeychainError) {
            let keybag = KeybagFile(configuration)
            let deviceKey = try configuration.deviceKeyProvider.load()
            try KeyStore(configuration, keybagFile: keybag, deviceKey: deviceKey).lock(request)
        } catch {
            if error.code == .noPasscode { throw error }
            try lockByDirectory(configuration)
        }
    }

    private static func lockByDirectory(_ configuration: EngineConfiguration) throws(KeychainError) {
        let names = ["keybag", "keychain.db"].map { configuration.storeDirectory.appendingPathComponent($0).path }
        guard let place = StorePlace(configuration.storeDirectory), names.contains(where: { FilePath.exists($0) })
        else { return }
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
