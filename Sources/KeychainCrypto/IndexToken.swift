package import KeychainModel

/// A keyed hash that stands for a value in the store's indexes: HMAC-SHA-256, cut to 128 bits.
///
/// Without the index key it tells nothing about the value except that two rows share it.
package struct IndexToken: Sendable, Hashable {
    package static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    init(prefixOf code: UnsafeRawBufferPointer) {
        high = code.loadUnaligned(as: UInt64.self)
        low = code.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    /// nil unless there are sixteen bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(prefixOf: bytes)
    }

    /// The sixteen bytes, as two words in memory order.
    package var words: (UInt64, UInt64) { (high, low) }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try Swift.withUnsafeBytes(of: words, body)
    }
}

/// Makes the index tokens of one tier, under one generation of its index key.
///
/// The key stays where it is. The states that HMAC makes of it, which are as good as the key, are made for each token, on
/// the stack.
package struct Indexer {
    private let keys: KeySet
    private let name: KeyName
    private let generation: UInt32

    /// - Returns: nil if there is no such key.
    package init?(_ keys: KeySet, _ name: KeyName, generation: UInt32) {
        guard keys.contains(name, generation: generation) else { return nil }
        self.keys = keys
        self.name = name
        self.generation = generation
    }

    /// The purpose of a token. Each purpose, class and attribute has tokens of its own.
    private enum Purpose: UInt8 { case attribute = 1, home = 2, uniqueness = 3, sightings = 4 }

    /// The token under which an item with this value is found.
    package func token(
        for attribute: Attribute, of itemClass: ItemClass, value: AttributeValue
    ) -> IndexToken {
        token(.attribute, itemClass) { hash in
            hash.update(attribute.rawValue.bigEndian)
            hash.update(value)
        }
    }

    /// The token of a home: one item class, access group and synchronizability.
    package func homeToken(itemClass: ItemClass, accessGroup: String, synchronizable: Bool) -> IndexToken {
        token(.home, itemClass) { hash in
            hash.update(UInt8(synchronizable ? 1 : 0))
            hash.update(.text(accessGroup))
        }
    }

    /// The token that only one item may have: its class, group, synchronizability and unique attributes.
    package func uniquenessToken(
        itemClass: ItemClass, accessGroup: String, synchronizable: Bool, attributes: AttributeSet
    ) -> IndexToken {
        token(.uniqueness, itemClass) { hash in
            hash.update(UInt8(synchronizable ? 1 : 0))
            hash.update(.text(accessGroup))
            for rule in AttributeTable.table(for: itemClass).uniqueness {
                guard let value = attributes[rule.attribute] ?? rule.uniquenessDefault else { continue }
                hash.update(rule.attribute.rawValue.bigEndian)
                hash.update(value)
            }
        }
    }

    /// The token that vouches for the store's sightings of the clock (docs/store-format.md, "Sightings").
    package func token(ofSightings bytes: UnsafeRawBufferPointer) -> IndexToken {
        token(.sightings, nil) { $0.update(bytes) }
    }

    private func token(_ purpose: Purpose, _ itemClass: ItemClass?, _ feed: (inout KeyedHash) -> Void) -> IndexToken {
        let token = keys.withKey(name, generation: generation) { key in
            var hash = KeyedHash(key: key)
            hash.update((UInt16(purpose.rawValue) << 8 | UInt16(itemClass?.number ?? 0)).littleEndian)
            feed(&hash)
            return hash.finalize { IndexToken(prefixOf: $0) }
        }
        return token!  // the key was there, and a set loses none
    }
}

extension KeyedHash {
    fileprivate mutating func update(_ integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer) { update($0) }
    }

    /// Kind and length come before the bytes, so that no two sequences of values read alike.
    fileprivate mutating func update(_ value: AttributeValue) {
        value.withIndexedBytes { kind, bytes in
            update((UInt64(kind) << 56 | UInt64(bytes.count)).littleEndian)
            update(bytes)
        }
    }
}
