package import FoundationEssentials

/// The key of one protected file as its header carries it (docs/file-format.md, "The file key, wrapped").
package struct WrappedFileKey: Sendable, Hashable {
    /// 16 random bytes that the file got when it was made.
    package var fileID: UUID
    /// Whose class key it is wrapped under.
    package var storeID: UUID
    package var fileClass: FileClass
    /// The generation of the class key, from 1.
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

/// The requests for a file's key. Content never goes to an engine, only headers do.
package enum FileKeyRequest: Sendable {
    /// A fresh key, wrapped for a class.
    case make(FileClass, fileID: UUID)
    case open(WrappedFileKey)
    /// A file's key, wrapped anew for a class, under its newest class key.
    case rewrap(WrappedFileKey, FileClass)
    /// A key that a file has already, from another store, wrapped for a class of this one.
    case adopt(SecretBytes, FileClass, fileID: UUID)
}

/// Asks for the class keys of files, of every generation there is, sealed with a passphrase. The request is for the
/// store's owner alone.
package struct FileKeyBackupRequest: Sendable {
    package static let headerByteCount = 83

    /// The beginning of the backup key file (docs/backup-format.md).
    package var header: Data
    /// The rest of the file is sealed under this key, which comes from the passphrase.
    package var key: SecretBytes

    package init(header: Data, key: SecretBytes) {
        self.header = header
        self.key = key
    }

    /// - Throws: `.parameter` for sizes that are not those of such a file.
    package func requireSizes() throws(KeychainError) {
        guard header.count == Self.headerByteCount, key.count == FileKey.byteCount else {
            throw KeychainError(.parameter, message: "the beginning of a backup key, or its key, has another size")
        }
    }
}

extension SecretBytes {
    /// - Throws: `.parameter` if the size is another.
    package func requireFileKeySize() throws(KeychainError) {
        guard count == FileKey.byteCount else {
            throw KeychainError(
                .parameter, message: "the key of a file has \(count) bytes, \(FileKey.byteCount) expected")
        }
    }
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
