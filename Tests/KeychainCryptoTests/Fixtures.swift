import Foundation
import KeychainCrypto
import KeychainModel

extension Data {
    init(hex: String) {
        var rest = Substring(hex)
        self.init()
        while !rest.isEmpty {
            append(UInt8(rest.prefix(2), radix: 16)!)
            rest = rest.dropFirst(2)
        }
    }

    /// The same bytes with one bit changed.
    func flipping(_ place: Int) -> Data {
        var copy = self
        copy[copy.startIndex + place] ^= 0x10
        return copy
    }
}

extension KeyMaterial {
    static func repeating(_ byte: UInt8) throws -> KeyMaterial {
        try KeyMaterial { target in
            for place in target.indices { target[place] = byte }
        }
    }

    static func holding(_ bytes: Data) throws -> KeyMaterial {
        try KeyMaterial { $0.copyBytes(from: bytes) }
    }

    var data: Data { withUnsafeBytes { Data($0) } }
}

extension KeySet {
    /// A set of these keys, each of which is its number over and over.
    static func repeating(_ names: [KeyName], generation: UInt32 = 1) throws -> KeySet {
        let set = try KeySet()
        for name in names {
            try set.add(name, generation: generation) { target in
                for place in target.indices { target[place] = name.number }
            }
        }
        return set
    }

    func data(_ name: KeyName, generation: UInt32 = 1) -> Data? {
        withKey(name, generation: generation) { Data($0) }
    }
}

extension UUID {
    /// - Parameter data: 16 bytes.
    init(_ data: Data) {
        self = data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// The same byte every time.
struct RepeatedByte: Randomness {
    let byte: UInt8

    func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        for place in bytes.indices { bytes[place] = byte }
    }
}

extension RowBinding {
    static func fixture() -> RowBinding {
        RowBinding(
            storeID: UUID(uuidString: "00000000-0000-4000-8000-000000000001")!,
            rowID: UUID(uuidString: "00000000-0000-4000-8000-000000000002")!,
            itemClass: .genericPassword, accessControl: AccessControl(.whenUnlocked), version: 1)
    }
}

extension Indexer {
    static func repeating(_ byte: UInt8) throws -> Indexer {
        let keys = try KeySet()
        try keys.add(.index(.always), generation: 1) { bytes throws(KeychainError) in
            bytes.initializeMemory(as: UInt8.self, repeating: byte)
        }
        return Indexer(keys, .index(.always), generation: 1)!  // it was just added
    }
}
