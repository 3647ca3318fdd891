package import KeychainModel

/// All keys of a store, unwrapped. The object lives while the keybag is made or changed, and while a passcode is
/// checked.
package struct StoreKeys: Sendable {
    private let sets: [KeyTier: KeySet]

    package init() throws(KeychainError) {
        var sets: [KeyTier: KeySet] = [:]
        for tier in KeyTier.ofKeybag { sets[tier] = try KeySet() }
        self.sets = sets
    }

    package subscript(tier: KeyTier) -> KeySet { sets[tier]! }  // there is one of each tier of the keybag

    package func add(
        _ name: KeyName, generation: UInt32, filling fill: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try self[name.tier].add(name, generation: generation, filling: fill)
    }

    /// Adds a fresh key of each kind.
    package func addGeneration(
        _ generation: UInt32, hasPasscode: Bool, randomness: some Randomness
    ) throws(KeychainError) {
        for name in KeyName.all where hasPasscode || !name.needsPasscode {
            try add(name, generation: generation) { target throws(KeychainError) in try randomness.fill(target) }
        }
    }

    /// The keys that `isWanted` accepts.
    package func filtered(
        _ isWanted: (_ name: KeyName, _ generation: UInt32) -> Bool
    ) throws(KeychainError) -> StoreKeys {
        let copy = try StoreKeys()
        for tier in KeyTier.ofKeybag {
            for (name, generation) in self[tier].names where isWanted(name, generation) {
                try self[tier].withKey(name, generation: generation) { key throws(KeychainError) in
                    try copy.add(name, generation: generation) { $0.copyMemory(from: key) }
                }
            }
        }
        return copy
    }
}
