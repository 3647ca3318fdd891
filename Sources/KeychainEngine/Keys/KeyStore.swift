internal import KeychainCrypto
internal import KeychainModel

/// The unwrapped keys of a store, handed out one operation at a time.
struct KeyStore: Sendable {
    private let keys: [KeyName: KeyMaterial]

    init(keys: [KeyName: KeyMaterial]) { self.keys = keys }

    /// Whether every key is in memory that cannot be swapped out.
    var isMemoryLocked: Bool { keys.values.allSatisfy(\.isLocked) }

    func existingClassKey(for protection: Protection) -> KeyMaterial? { keys[.itemClass(protection)] }

    /// - Throws: `.authenticationFailed` for the class that exists only while a passcode is set.
    func classKey(for protection: Protection) throws(KeychainError) -> KeyMaterial {
        if let key = keys[.itemClass(protection)] { return key }
        guard protection != .whenPasscodeSetThisDeviceOnly else {
            throw KeychainError(
                .authenticationFailed,
                message: "no passcode is set, and a \"when passcode set\" item needs one: choose another accessibility")
        }
        throw KeychainError(.notAvailable, message: "the keybag has no key for class \(protection.rawValue)")
    }

    /// A maker of index tokens, for one operation.
    func indexer(for tier: IndexTier) throws(KeychainError) -> Indexer {
        guard let key = keys[.index(tier)] else {
            throw KeychainError(.notAvailable, message: "the keybag has no index key for tier \(tier.rawValue)")
        }
        return Indexer(key: key)
    }
}
