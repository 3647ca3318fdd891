package import FoundationEssentials
package import KeychainModel

/// File class keys of former generations. No list of protected files exists, so a renewal brings none of them under new
/// keys: their keys stay, each wrapped under its successor.
extension Keybag {
    /// A renewal needs a keybag that can be read at once for ever. Each generation adds 232 bytes.
    package static let mostRetiredGenerations = 1_000

    /// Whether there may be one more generation of keys.
    package var mayBeRekeyed: Bool {
        Set(retired.map(\.generation)).count < Self.mostRetiredGenerations
    }

    /// Drops all keys but those of the newest generation, and retires those of files.
    ///
    /// - Parameter keys: All that the bag has in use.
    package mutating func dropFormerKeys(_ keys: StoreKeys) throws(KeychainError) {
        let newest = keyGeneration
        var newlyRetired: [Entry] = []
        for entry in entries where entry.generation < newest && entry.key.isOfFiles {
            newlyRetired.append(try retired(entry, keys[entry.key.tier]))
        }
        retired += newlyRetired
        entries.removeAll { $0.generation < newest }
    }

    private func retired(_ entry: Entry, _ keys: KeySet) throws(KeychainError) -> Entry {
        var retired = entry
        retired.wrap = .successor
        // A bag that was read has no gaps.
        let isWrapped = keys.withKey(entry.key, generation: entry.generation + 1) { successor in
            keys.withKey(entry.key, generation: entry.generation) { key in
                context(entry.key, entry.generation).withInfo(Self.label) { info in
                    KeyedHash.withExpanded(successor, info: info) { wrappingKey in
                        retired.wrappedKey.withUnsafeMutableBytes {
                            AESKeyWrap.wrap(key, under: wrappingKey, into: $0)
                        }
                    }
                }
            }
        }
        guard isWrapped == true else {
            throw KeychainError(.internalFailure, message: "a former key could not be wrapped under its successor")
        }
        return retired
    }

    /// "retired key 1" ‖ store id ‖ number ‖ generation of the key that is wrapped.
    private static let label = "retired key 1"
}

// MARK: - Using them

extension Keybag {
    /// Whether the bag has a key of a file class, in use or retired.
    package func hasFileKey(_ fileClass: FileClass, generation: UInt32) -> Bool {
        fileKey(fileClass, generation) != nil
    }

    /// The public half of a key of class B; nil if there is no such key.
    package func publicKey(generation: UInt32) -> Data? {
        fileKey(.completeUnlessOpen, generation)?.publicKey
    }

    private func fileKey(_ fileClass: FileClass, _ generation: UInt32) -> Entry? {
        let isMeant = { (entry: Entry) in entry.key == .file(fileClass.source) && entry.generation == generation }
        return entries.first(where: isMeant) ?? retired.first(where: isMeant)
    }

    /// Calls `body` with a retired key, which is unwrapped by way of all its successors and then erased.
    ///
    /// - Parameter keys: The keys in use of the class's tier.
    /// - Returns: nil if the bag has no such key, or `keys` lack the newest successor.
    /// - Throws: `.decode` if one of the keys does not open.
    package func withRetiredKey<R>(
        _ fileClass: FileClass, generation: UInt32, from keys: KeySet,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R? {
        let name = KeyName.file(fileClass)
        guard let first = entries.first(where: { $0.key == name }),
            retired.contains(where: { $0.key == name && $0.generation == generation })
        else { return nil }
        return try keys.withKey(name, generation: first.generation) { successor throws(KeychainError) in
            try withErasedBytes(KeyMaterial.byteCount) { key throws(KeychainError) in
                key.copyMemory(from: successor)
                for entry in retired.reversed() where entry.key == name && entry.generation >= generation {
                    try unwrap(entry, replacingSuccessorIn: key)
                }
                return try body(UnsafeRawBufferPointer(key))
            }
        }
    }

    func unwrap(_ entry: Entry, replacingSuccessorIn key: UnsafeMutableRawBufferPointer) throws(KeychainError) {
        let isUnwrapped = context(entry.key, entry.generation).withInfo(Self.label) { info in
            KeyedHash.withExpanded(UnsafeRawBufferPointer(key), info: info) { wrappingKey in
                entry.wrappedKey.withUnsafeBytes { AESKeyWrap.unwrap($0, under: wrappingKey, into: key) }
            }
        }
        guard isUnwrapped else { throw KeychainError(.decode, message: "a former key in the keybag does not open") }
    }
}
