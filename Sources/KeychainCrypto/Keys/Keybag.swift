package import FoundationEssentials
package import KeychainModel

/// The keys of a store, wrapped: what lies in the file `keybag` (docs/keybag-format.md).
package struct Keybag: Sendable, Equatable {
    package var storeID: UUID
    /// Counts the replacements of the file.
    package var generation: UInt64
    /// nil: no passcode is set.
    package var passcode: PasscodeParameters?
    package var policy: PasscodePolicy
    /// The keys in use: of one generation, or of several while keys are being renewed.
    package var entries: [Entry]
    /// File class keys of former generations, each wrapped under its successor. They are of older
    /// generations than all ``entries``, in the same order.
    package var retired: [Entry]
    /// Secrets that need the passcode are sealed for this pair. nil: no passcode is set, or a version without such
    /// pairs set it; then the next unlock makes one.
    package var consent: ConsentPair?

    package struct Entry: Sendable, Equatable {
        package var key: KeyName
        package var wrap: Wrap
        /// Counts the renewals of all keys.
        package var generation: UInt32
        package var wrappedKey: Data
        /// Empty for a symmetric key.
        package var publicKey: Data
    }

    /// The key that a key of the bag is wrapped under.
    package enum Wrap: UInt8, Sendable {
        case deviceKey = 1, passcode = 2
        /// The key of the same number and the next generation.
        case successor = 3
    }

    package init(
        storeID: UUID, generation: UInt64, passcode: PasscodeParameters?, policy: PasscodePolicy, entries: [Entry],
        retired: [Entry] = [], consent: ConsentPair? = nil
    ) {
        self.storeID = storeID
        self.generation = generation
        self.passcode = passcode
        self.policy = policy
        self.entries = entries
        self.retired = retired
        self.consent = consent
    }
}

extension Keybag {
    /// New rows are sealed under this generation.
    package var keyGeneration: UInt32 { entries.map(\.generation).max() ?? 0 }

    /// A search looks under each of them.
    package static let mostGenerationsInUse = 4

    /// All that rows may be sealed under, the newest first: more than one while keys are being renewed.
    package var keyGenerations: [UInt32] { Set(entries.map(\.generation)).sorted(by: >) }

    /// Whether a renewal of all keys is not finished: rows are under former keys, or do not open under any.
    package var isRekeying: Bool { keyGenerations.count > 1 }
}

// MARK: - Wrapping

extension Keybag {
    /// A bag of fresh keys for a new store, wrapped under the device key.
    package static func make(
        storeID: UUID, deviceKey: KeyMaterial, randomness: some Randomness
    ) throws(KeychainError) -> Keybag {
        let keys = try StoreKeys()
        try keys.addGeneration(1, hasPasscode: false, randomness: randomness)
        var bag = Keybag(storeID: storeID, generation: 1, passcode: nil, policy: PasscodePolicy(), entries: [])
        try bag.wrap(keys, deviceKey: deviceKey, passcodeKey: nil)
        return bag
    }

    /// Replaces the keys in use by these; retired keys stay. With a passcode, the keys of the tiers behind it are
    /// wrapped under it: also older keys that were not, so that the bag holds no way round it.
    package mutating func wrap(
        _ keys: StoreKeys, deviceKey: KeyMaterial, passcodeKey: KeyMaterial?
    ) throws(KeychainError) {
        precondition((passcode == nil) == (passcodeKey == nil))
        var wrapped: [Entry] = []
        for tier in KeyTier.ofKeybag {
            let passcodeKey = KeyTier.behindPasscode.contains(tier) ? passcodeKey : nil
            let wrap = passcodeKey == nil ? Wrap.deviceKey : .passcode
            for (name, generation) in keys[tier].names {
                let made = try keys[tier].withKey(name, generation: generation) { key throws(KeychainError) -> Entry in
                    try entry(name, generation, wrap, key, under: passcodeKey ?? deviceKey)
                }
                wrapped.append(made!)  // it was listed
            }
        }
        entries = wrapped.sorted { ($0.generation, $0.key.number) < ($1.generation, $1.key.number) }
    }

    private func entry(
        _ name: KeyName, _ generation: UInt32, _ wrap: Wrap, _ key: UnsafeRawBufferPointer, under parent: KeyMaterial
    ) throws(KeychainError) -> Entry {
        var wrappedKey = Data(count: AESKeyWrap.wrappedByteCount)
        let isWrapped = wrappedKey.withUnsafeMutableBytes { target in
            parent.withDerived("class key 1", context(name, generation)) { wrappingKey in
                AESKeyWrap.wrap(key, under: wrappingKey, into: target)
            }
        }
        guard isWrapped else { throw KeychainError(.internalFailure, message: "a key could not be wrapped") }
        let publicKey = name.hasPublicHalf ? X25519.publicKey(of: key) : Data()
        return Entry(key: name, wrap: wrap, generation: generation, wrappedKey: wrappedKey, publicKey: publicKey)
    }

    /// Unwraps the keys that the device key alone opens.
    ///
    /// - Throws: `.decode` if one does not open.
    package func unwrap(deviceKey: KeyMaterial) throws(KeychainError) -> StoreKeys {
        let keys = try StoreKeys()
        try unwrap(.deviceKey, under: deviceKey, into: keys)
        try requirePublicHalves(of: keys)
        return keys
    }

    /// Unwraps every key.
    ///
    /// - Throws: `.authenticationFailed` if the passcode is wrong: the store is unlocked only if all keys open.
    package func unwrap(deviceKey: KeyMaterial, passcodeKey: KeyMaterial) throws(KeychainError) -> StoreKeys {
        let keys = try unwrap(deviceKey: deviceKey)
        do throws(KeychainError) {
            try unwrap(.passcode, under: passcodeKey, into: keys)
        } catch  where error.code == .decode {
            throw KeychainError(.authenticationFailed, message: "the passcode is wrong")
        }
        try requirePublicHalves(of: keys)
        return keys
    }

    /// - Throws: `.decode` if a public half does not belong to its key: files would be sealed for a stranger.
    private func requirePublicHalves(of keys: StoreKeys) throws(KeychainError) {
        for entry in entries where entry.key.hasPublicHalf {
            let publicKey = keys[entry.key.tier].withKey(entry.key, generation: entry.generation) { key in
                X25519.publicKey(of: key)
            }
            guard publicKey == nil || publicKey == entry.publicKey else {
                throw KeychainError(.decode, message: "a public key in the keybag is not the one of its private key")
            }
        }
    }

    private func unwrap(_ wrap: Wrap, under parent: KeyMaterial, into keys: StoreKeys) throws(KeychainError) {
        for entry in entries where entry.wrap == wrap {
            try keys.add(entry.key, generation: entry.generation) { target throws(KeychainError) in
                let isUnwrapped = parent.withDerived("class key 1", context(entry.key, entry.generation)) { key in
                    entry.wrappedKey.withUnsafeBytes { AESKeyWrap.unwrap($0, under: key, into: target) }
                }
                guard isUnwrapped else {
                    throw KeychainError(.decode, message: "a key in the keybag does not open")
                }
            }
        }
    }

    /// Store id ‖ number of the key ‖ its generation.
    func context(_ name: KeyName, _ generation: UInt32) -> KeyContext {
        KeyContext(storeID).adding(name.number).adding(generation)
    }
}
