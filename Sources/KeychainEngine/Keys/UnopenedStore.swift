internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// A store that can be locked without being opened: its directory is enough, whatever its content.
package enum UnopenedStore {
    /// Takes the keys of the "when unlocked" tier from every process. If the keybag does not open, that happens at once
    /// and without notice.
    ///
    /// - Throws: `.noPasscode`; `.notAvailable` if the lock cannot be written. The keys are gone from the user's
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
                    && KeyTier.endingWithLock.contains { name.hasSuffix(":\($0.rawValue)") }
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
