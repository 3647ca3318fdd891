package import FoundationEssentials
package import KeychainModel

/// A pair of X25519 keys whose private half the passcode alone opens, each time anew. Secrets that need the passcode
/// are sealed for the public half, which needs none.
///
/// The pair is no class key. No unlock brings its private half into reach, and it stays the same when class keys are
/// renewed.
package struct ConsentPair: Sendable, Equatable {
    /// 32 bytes.
    package var publicKey: Data
    /// The private half: 40 bytes.
    var wrappedKey: Data

    private static let label = "consent key 1"

    package static func make(
        storeID: UUID, passcodeKey: KeyMaterial, randomness: some Randomness
    ) throws(KeychainError) -> ConsentPair {
        let privateKey = try KeyMaterial(from: randomness)
        let publicKey = privateKey.withUnsafeBytes { X25519.publicKey(of: $0) }
        var pair = ConsentPair(publicKey: publicKey, wrappedKey: Data())
        try pair.wrap(privateKey, storeID: storeID, passcodeKey: passcodeKey)
        return pair
    }

    /// Unwraps the private half.
    ///
    /// - Throws: `.decode` if it is wrapped under another key, or does not belong to the public half.
    package func unwrap(storeID: UUID, passcodeKey: KeyMaterial) throws(KeychainError) -> KeyMaterial {
        let privateKey = try KeyMaterial { target throws(KeychainError) in
            let isUnwrapped = passcodeKey.withDerived(Self.label, KeyContext(storeID)) { key in
                wrappedKey.withUnsafeBytes { AESKeyWrap.unwrap($0, under: key, into: target) }
            }
            guard isUnwrapped else {
                throw KeychainError(.decode, message: "a key in the keybag does not open")
            }
        }
        guard privateKey.withUnsafeBytes({ X25519.publicKey(of: $0) }) == publicKey else {
            throw KeychainError(.decode, message: "a public key in the keybag is not the one of its private key")
        }
        return privateKey
    }

    /// Wraps the same private half under another passcode.
    package mutating func wrap(
        _ privateKey: KeyMaterial, storeID: UUID, passcodeKey: KeyMaterial
    ) throws(KeychainError) {
        var wrapped = Data(count: AESKeyWrap.wrappedByteCount)
        let isWrapped = wrapped.withUnsafeMutableBytes { target in
            passcodeKey.withDerived(Self.label, KeyContext(storeID)) { key in
                privateKey.withUnsafeBytes { AESKeyWrap.wrap($0, under: key, into: target) }
            }
        }
        guard isWrapped else { throw KeychainError(.internalFailure, message: "a key could not be wrapped") }
        wrappedKey = wrapped
    }
}

// MARK: - In the keybag

extension ConsentPair {
    /// In the place of a key's number and of a kind of wrap, where no other entry has it.
    static let entryNumber: UInt8 = 64
    static let wrapNumber: UInt8 = 4

    /// The pair as an entry of the keybag (docs/keybag-format.md).
    var encoded: Data {
        var bytes = Data([Self.entryNumber, Self.wrapNumber])
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: UInt16(wrappedKey.count))
        bytes.append(wrappedKey)
        bytes.append(bigEndian: UInt16(publicKey.count))
        bytes.append(publicKey)
        return bytes
    }

    static let byteCount = 2 + 4 + 2 + AESKeyWrap.wrappedByteCount + 2 + X25519.byteCount

    /// - Returns: nil if ``encoded`` did not make the bytes.
    init?(from reader: inout ByteReader) {
        guard let bytes = reader.take(Self.byteCount) else { return nil }
        let start = bytes.startIndex + 8
        self.init(
            publicKey: Data(bytes.suffix(X25519.byteCount)),
            wrappedKey: Data(bytes[start..<(start + AESKeyWrap.wrappedByteCount)]))
        if encoded != Data(bytes) { return nil }
    }
}
