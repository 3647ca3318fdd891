internal import CKeychainLinux
internal import Crypto
package import Foundation
package import KeychainModel

/// What a row's keys and ciphertexts are bound to: moved to another place, nothing of it opens.
package struct RowBinding: Sendable {
    package var storeID: UUID
    package var rowID: UUID
    package var itemClass: ItemClass
    package var accessControl: AccessControl
    /// Counts the writes of the row, so that halves of two versions do not go together.
    package var version: Int64

    package init(storeID: UUID, rowID: UUID, itemClass: ItemClass, accessControl: AccessControl, version: Int64) {
        self.storeID = storeID
        self.rowID = rowID
        self.itemClass = itemClass
        self.accessControl = accessControl
        self.version = version
    }
}

/// One half of a row as it lies on disk.
package struct SealedHalf: Sendable {
    /// A fresh 256-bit key, wrapped (RFC 3394): 40 bytes.
    package var wrappedKey: Data
    /// 12 bytes of nonce, the padded plaintext under AES-256-GCM, 16 bytes of tag.
    package var box: Data

    package init(wrappedKey: Data, box: Data) {
        self.wrappedKey = wrappedKey
        self.box = box
    }
}

/// Seals and opens the two halves of a row: the metadata, and the secret.
///
/// Each half has a random key of its own, so metadata can be read without the secret's key ever being
/// unwrapped. Both keys are wrapped under a key derived from the class key for this row, protection and
/// access control alone.
package struct RowSealer {
    package enum Half: UInt8, Sendable { case metadata = 1, secret = 2 }

    private let binding: RowBinding
    private let wrappingKey: SymmetricKey

    /// - Parameter classKey: The key of `binding.accessControl.protection`.
    package init(classKey: KeyMaterial, binding: RowBinding) {
        self.binding = binding
        self.wrappingKey = Self.wrappingKey(classKey: classKey, binding: binding)
    }

    package func seal(
        _ plaintext: UnsafeRawBufferPointer, as half: Half, randomness: some Randomness
    ) throws(KeychainError) -> SealedHalf {
        do {
            return try withUnsafeTemporaryAllocation(byteCount: 32 + 12, alignment: 16) { fresh in
                defer { ckeychain_erase(fresh.baseAddress, fresh.count) }
                try randomness.fill(fresh)
                let key = SymmetricKey(data: UnsafeRawBufferPointer(rebasing: fresh[..<32]))
                let nonce = try AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: fresh[32...]))
                let box = try PaddedBytes.withPadded(plaintext, multiple: half.multiple) { padded in
                    try withAssociatedData(of: half) { associated in
                        try AES.GCM.seal(padded, using: key, nonce: nonce, authenticating: associated)
                    }
                }
                guard let combined = box.combined else {
                    throw KeychainError(.internalFailure, message: "the cipher gave no combined form")
                }
                return SealedHalf(wrappedKey: try AES.KeyWrap.wrap(key, using: wrappingKey), box: combined)
            }
        } catch {
            throw error as? KeychainError
                ?? KeychainError(.internalFailure, message: "the item could not be sealed", cause: error)
        }
    }

    /// - Throws: `.decode` if the bytes are not what was sealed for this row: damaged, edited, or another row's.
    package func openMetadata(
        wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer
    ) throws(KeychainError) -> ItemMetadata {
        try open(.metadata, wrappedKey: wrappedKey, box: box) { bytes throws(KeychainError) in
            try ItemMetadata(decoding: bytes)
        }
    }

    /// - Throws: `.decode`, as ``openMetadata(wrappedKey:box:)``.
    package func openSecret(
        wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer
    ) throws(KeychainError) -> SecretBytes {
        try open(.secret, wrappedKey: wrappedKey, box: box) { bytes throws(KeychainError) in
            SecretBytes(copying: bytes)
        }
    }

    /// Calls `body` with the plaintext of one half, and erases it afterwards. Not offered to other modules, where
    /// it would not be specialised and cost a microsecond more.
    func open<R>(
        _ half: Half, wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var padded: Data
        do {
            let key = try AES.KeyWrap.unwrap(wrappedKey, using: wrappingKey)
            let sealed = try AES.GCM.SealedBox(combined: box)
            padded = try withAssociatedData(of: half) { associated in
                try AES.GCM.open(sealed, using: key, authenticating: associated)
            }
        } catch {
            throw KeychainError(.decode, message: "a stored item is damaged or was tampered with", cause: error)
        }
        // The buffer is ours alone, so this erases the bytes themselves and not a copy of them.
        defer { padded.withUnsafeMutableBytes { ckeychain_erase($0.baseAddress, $0.count) } }
        var result: Result<R, KeychainError>?
        padded.withUnsafeBytes { bytes in
            do throws(KeychainError) {
                result = .success(try body(try PaddedBytes.content(of: bytes)))
            } catch {
                result = .failure(error)
            }
        }
        return try result!.get()
    }
}

extension RowSealer.Half {
    /// Lengths are rounded up to this many bytes.
    fileprivate var multiple: Int {
        switch self {
        case .metadata: 64
        case .secret: 32
        }
    }
}

extension RowSealer {
    /// HKDF-Expand(class key, "row key 1" ‖ row id ‖ protection ‖ SHA-256 of the access control).
    private static func wrappingKey(classKey: KeyMaterial, binding: RowBinding) -> SymmetricKey {
        withUnsafeTemporaryAllocation(byteCount: 9 + 16 + 1 + 32, alignment: 16) { info in
            info.copyBytes(from: "row key 1".utf8)
            info.store(binding.rowID, at: 9)
            info[25] = binding.accessControl.protection.number
            binding.accessControl.digest.withUnsafeBytes { digest in
                UnsafeMutableRawBufferPointer(rebasing: info[26...]).copyMemory(from: digest)
            }
            return classKey.withUnsafeBytes { KeyedHash.deriveKey(from: $0, info: UnsafeRawBufferPointer(info)) }
        }
    }

    /// Store id ‖ row id ‖ item class ‖ protection ‖ half ‖ row version (big-endian).
    private func withAssociatedData<R>(of half: Half, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeTemporaryAllocation(byteCount: 16 + 16 + 3 + 8, alignment: 16) { bytes in
            bytes.store(binding.storeID, at: 0)
            bytes.store(binding.rowID, at: 16)
            bytes[32] = binding.itemClass.number
            bytes[33] = binding.accessControl.protection.number
            bytes[34] = half.rawValue
            bytes.storeBytes(of: binding.version.bigEndian, toByteOffset: 35, as: Int64.self)
            return try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension AccessControl {
    /// Those of the access controls that nearly every item has, computed once.
    private static let plainDigests = Dictionary(
        uniqueKeysWithValues: Protection.allCases.map { ($0, SHA256.hash(data: AccessControl($0).canonicalBytes)) })

    fileprivate var digest: SHA256Digest {
        if flags.isEmpty, let digest = Self.plainDigests[protection] { return digest }
        return SHA256.hash(data: canonicalBytes)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func store(_ identifier: UUID, at offset: Int) {
        storeBytes(of: identifier.uuid, toByteOffset: offset, as: uuid_t.self)
    }
}
