package import FoundationEssentials
package import KeychainModel

/// Wraps the key of one file for one class, and unwraps it (docs/file-format.md, "The file key, wrapped").
///
/// A key that was wrapped for one file, class or store opens for no other.
package struct FileKeyWrap: Sendable {
    /// Store id ‖ file id ‖ class.
    private let context: KeyContext

    package init(storeID: UUID, fileID: UUID, fileClass: FileClass) {
        context = KeyContext(storeID).adding(fileID).adding(fileClass.rawValue)
    }

    fileprivate static var damaged: KeychainError {
        KeychainError(.decode, message: "the key of the file does not open: its header was changed or is damaged")
    }
}

// MARK: - Classes A, C and D

extension FileKeyWrap {
    private static let label = "file key 1"

    /// - Parameter key: 32 bytes.
    /// - Returns: 40 bytes.
    package func wrap(
        _ key: UnsafeRawBufferPointer, under classKey: UnsafeRawBufferPointer
    ) throws(KeychainError) -> Data {
        try context.withInfo(Self.label) { info throws(KeychainError) in
            try KeyedHash.withExpanded(classKey, info: info) { wrappingKey throws(KeychainError) in
                try Self.wrap(key, wrappingKey)
            }
        }
    }

    /// - Parameter key: 32 bytes, of no use after an error.
    /// - Throws: `.decode` if the bytes were not wrapped under this key for this file.
    package func unwrap(
        _ wrapped: Data, under classKey: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        try context.withInfo(Self.label) { info throws(KeychainError) in
            try KeyedHash.withExpanded(classKey, info: info) { wrappingKey throws(KeychainError) in
                try Self.unwrap(wrapped, wrappingKey, into: key)
            }
        }
    }
}

// MARK: - Class B

extension FileKeyWrap {
    private static let labelOfPairs = "file key B 1"

    /// Wraps a key for the holder of a public key's private half.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - recipient: The class's public key.
    /// - Returns: the public key of a pair that is made for this, and forgotten, and 40 bytes.
    /// - Throws: `.decode` for a public key that gives the same result with every private key.
    package func wrap(
        _ key: UnsafeRawBufferPointer, for recipient: Data, randomness: some Randomness
    ) throws(KeychainError) -> (publicKey: Data, wrappedKey: Data) {
        try withErasedBytes(X25519.byteCount) { pair throws(KeychainError) in
            try randomness.fill(pair)
            let privateKey = UnsafeRawBufferPointer(pair)
            let publicKey = X25519.publicKey(of: privateKey)
            let wrapped = try withAgreedKey(
                privateKey, recipient, sender: publicKey, recipient: recipient
            ) { wrappingKey throws(KeychainError) in
                try Self.wrap(key, wrappingKey)
            }
            return (publicKey, wrapped)
        }
    }

    /// - Parameters:
    ///   - sender: The public key that the file has.
    ///   - privateKey: The private key of the class.
    ///   - recipient: The class's public key.
    ///   - key: 32 bytes, of no use after an error.
    /// - Throws: `.decode` if the bytes were not wrapped for this key and file, or the public key gives the same result
    ///   with every private key.
    package func unwrap(
        _ wrapped: Data, from sender: Data, privateKey: UnsafeRawBufferPointer, recipient: Data,
        into key: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        try withAgreedKey(privateKey, sender, sender: sender, recipient: recipient) {
            wrappingKey throws(KeychainError) in
            try Self.unwrap(wrapped, wrappingKey, into: key)
        }
    }

    /// Calls `body` with a key that only the two pairs' owners can compute, each from the own private key and the
    /// other's public key.
    private func withAgreedKey<R>(
        _ privateKey: UnsafeRawBufferPointer, _ other: Data, sender: Data, recipient: Data,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard sender.count == X25519.byteCount, recipient.count == X25519.byteCount else { throw Self.damaged }
        return try withErasedBytes(X25519.byteCount + KeyedHash.byteCount) { bytes throws(KeychainError) in
            let shared = UnsafeMutableRawBufferPointer(rebasing: bytes[..<X25519.byteCount])
            let extracted = UnsafeMutableRawBufferPointer(rebasing: bytes[X25519.byteCount...])
            guard other.withUnsafeBytes({ X25519.agree(privateKey, with: $0, into: shared) }) else {
                throw Self.damaged
            }
            (sender + recipient).withUnsafeBytes { salt in
                var hash = KeyedHash(key: salt)
                hash.update(UnsafeRawBufferPointer(shared))
                hash.finalize(into: extracted)
            }
            let context = context.adding(sender).adding(recipient)
            return try context.withInfo(Self.labelOfPairs) { info throws(KeychainError) in
                try KeyedHash.withExpanded(UnsafeRawBufferPointer(extracted), info: info, body)
            }
        }
    }
}

// MARK: - RFC 3394

extension FileKeyWrap {
    private static func wrap(
        _ key: UnsafeRawBufferPointer, _ wrappingKey: UnsafeRawBufferPointer
    ) throws(KeychainError) -> Data {
        var wrapped = Data(count: AESKeyWrap.wrappedByteCount)
        let isWrapped = wrapped.withUnsafeMutableBytes { AESKeyWrap.wrap(key, under: wrappingKey, into: $0) }
        guard isWrapped else { throw KeychainError(.internalFailure, message: "a file's key could not be wrapped") }
        return wrapped
    }

    private static func unwrap(
        _ wrapped: Data, _ wrappingKey: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        let isUnwrapped = wrapped.withUnsafeBytes { AESKeyWrap.unwrap($0, under: wrappingKey, into: key) }
        guard isUnwrapped else { throw damaged }
    }
}
