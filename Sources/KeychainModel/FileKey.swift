package import Foundation

/// The key of one protected file as its header carries it (docs/file-format.md, "The file key, wrapped").
package struct WrappedFileKey: Sendable, Hashable {
    /// 16 random bytes that the file got when it was made.
    package var fileID: UUID
    /// Whose class key it is wrapped under.
    package var storeID: UUID
    package var fileClass: FileClass
    /// Of the class key, from 1.
    package var generation: UInt32
    /// 32 bytes for class B, the public half of the pair that was made for this file; empty for the others.
    package var publicKey: Data
    /// 40 bytes.
    package var wrappedKey: Data

    package init(
        fileID: UUID, storeID: UUID, fileClass: FileClass, generation: UInt32, publicKey: Data, wrappedKey: Data
    ) {
        self.fileID = fileID
        self.storeID = storeID
        self.fileClass = fileClass
        self.generation = generation
        self.publicKey = publicKey
        self.wrappedKey = wrappedKey
    }
}

extension WrappedFileKey {
    package static let publicKeyByteCount = 32
    package static let wrappedKeyByteCount = 40

    /// - Throws: `.parameter` for sizes that no header has.
    package func requireSizes() throws(KeychainError) {
        let expected = fileClass == .completeUnlessOpen ? Self.publicKeyByteCount : 0
        guard publicKey.count == expected else {
            throw KeychainError(
                .parameter, message: "the public key of the file has \(publicKey.count) bytes, \(expected) expected")
        }
        guard wrappedKey.count == Self.wrappedKeyByteCount else {
            throw KeychainError(
                .parameter,
                message:
                    "the wrapped key of the file has \(wrappedKey.count) bytes, \(Self.wrappedKeyByteCount) expected")
        }
    }
}

/// What can be asked about a file's key. Content never goes to an engine, only headers do.
package enum FileKeyRequest: Sendable, Hashable {
    /// A fresh key, wrapped for a class.
    case make(FileClass, fileID: UUID)
    case open(WrappedFileKey)
    /// The same key wrapped for a class, under its newest class key.
    case rewrap(WrappedFileKey, FileClass)
}

/// A file's key, 32 bytes, and its wrapped form.
package struct FileKey: Sendable {
    package static let byteCount = 32

    package var wrapped: WrappedFileKey
    package var key: SecretBytes

    package init(wrapped: WrappedFileKey, key: SecretBytes) {
        self.wrapped = wrapped
        self.key = key
    }
}
