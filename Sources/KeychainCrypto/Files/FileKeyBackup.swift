package import FoundationEssentials
package import KeychainModel

/// The class keys of a store's files under a passphrase: a backup key file. docs/backup-format.md describes every byte.
///
/// They are opened for one file at a time, and erased again.
package struct FileKeyBackup: Sendable {
    static let format = PassphraseFormat(
        magic: Array("KCBKUP\r\n".utf8), version: 1, commitmentLabel: "file backup commitment 1",
        keyLabel: "file backup key 1", name: "backup key", kind: "no backup key of protected files",
        consequence: "nothing was restored", versionCode: .unimplemented)

    /// The length of the part before the store id.
    package static let headerByteCount = PassphraseHeader.byteCount
    private static let startByteCount = headerByteCount + 16
    private static let leastByteCount = startByteCount + AESGCM.overhead
    /// The size of the largest backup key file.
    package static let mostBytes =
        leastByteCount + FileClassKeyRecords.mostRecords * FileClassKeyRecords.byteCount

    /// The store whose files it is for.
    package let storeID: UUID
    private let file: Data
    private let key: KeyMaterial
    private let records: FileClassKeyRecords

    /// Opens a backup key file.
    ///
    /// Takes a third of a second and 128 MiB.
    ///
    /// - Parameter file: The whole file.
    /// - Throws: `.parameter` for bytes that are no such file, `.unimplemented` for a newer version,
    ///   `.authenticationFailed` for another passphrase than the one it was made with, `.decode` if it is not as it was
    ///   made.
    package init(opening file: Data, passphrase: SecretBytes) throws(KeychainError) {
        let file = Data(file)
        try Self.requireFormat(file)
        let header = try PassphraseHeader(
            Self.format, opening: file.prefix(Self.headerByteCount), passphrase: passphrase)
        guard let storeID = Self.storeID(of: file) else { throw Self.format.damaged("its end is missing") }
        self.storeID = storeID
        self.file = file
        key = header.key
        records = try Self.withRecords(of: file, key) { records throws(KeychainError) in
            guard let found = FileClassKeyRecords(records) else {
                throw Self.format.damaged("it has keys that no keychain has")
            }
            return found
        }
    }

    /// Whose files a backup key file is for, as it says itself; nil if it ends too early.
    package static func storeID(of file: Data) -> UUID? {
        var reader = ByteReader(file.dropFirst(headerByteCount))
        return reader.identifier()
    }

    /// Looks at a file before the passphrase is asked for.
    ///
    /// - Throws: as ``init(opening:passphrase:)``.
    package static func requireFormat(_ file: Data) throws(KeychainError) {
        _ = try PassphraseHeader.parameters(format, of: Data(file.prefix(headerByteCount)))
        guard file.count >= leastByteCount else { throw format.damaged("its end is missing") }
        guard file.count <= mostBytes else { throw format.damaged("it has no such size") }
    }

    /// The key of a file of this store.
    ///
    /// - Throws: `.noSuchKeychain` if the file is another store's, or under a class key that is not in here; `.decode` if
    ///   it does not open under it.
    package func unwrap(_ wrapped: WrappedFileKey) throws(KeychainError) -> SecretBytes {
        try wrapped.requireSizes()
        let name = FileClassKeyRecords.Name(fileClass: wrapped.fileClass.source, generation: wrapped.generation)
        guard wrapped.storeID == storeID else {
            throw KeychainError(.noSuchKeychain, message: "the file belongs to another keychain than the backup key")
        }
        guard records.contains(name) else { throw missing(name) }
        return try SecretBytes(count: FileKey.byteCount) { target throws(KeychainError) in
            try Self.withRecords(of: file, key) { bytes throws(KeychainError) in
                try Self.unwrap(wrapped, under: records.key(name, in: bytes)!, into: target)  // it was just found
            }
        }
    }

    private static func unwrap(
        _ wrapped: WrappedFileKey, under classKey: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        let wrap = FileKeyWrap(storeID: wrapped.storeID, fileID: wrapped.fileID, fileClass: wrapped.fileClass)
        guard wrapped.fileClass == .completeUnlessOpen else {
            return try Keybag.withKey(of: wrapped.fileClass, from: classKey, wrapped.storeID, wrapped.generation) {
                classKey throws(KeychainError) in
                try wrap.unwrap(wrapped.wrappedKey, under: classKey, into: key)
            }
        }
        try wrap.unwrap(
            wrapped.wrappedKey, from: wrapped.publicKey, privateKey: classKey,
            recipient: X25519.publicKey(of: classKey), into: key)
    }

    private func missing(_ name: FileClassKeyRecords.Name) -> KeychainError {
        let newest = records.newestGeneration
        return KeychainError(
            .noSuchKeychain,
            message: name.generation > newest
                ? "its key is of generation \(name.generation), and the backup key has those up to generation \(newest): "
                    + "the keys of its keychain were renewed since; make a newer backup key where the file comes from"
                : "the backup key does not have the key of this file: it was destroyed, by an erasure after ten wrong "
                    + "passcodes, before the backup key was made, or the file's header was changed")
    }

    /// Calls `body` with the records, which are erased afterwards.
    private static func withRecords<R>(
        of file: Data, _ key: KeyMaterial, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        let start = Data(file.prefix(startByteCount))
        let box = Data(file.dropFirst(startByteCount))
        return try withErasedBytes(max(0, box.count - AESGCM.overhead)) { records throws(KeychainError) in
            let isOpen = key.withUnsafeBytes { key in
                start.withUnsafeBytes { start in
                    box.withUnsafeBytes { AESGCM.open($0, key: key, associated: start, into: records) }
                }
            }
            guard isOpen else {
                throw format.damaged("its keys, or what stands before them, were changed or cut short")
            }
            return try body(UnsafeRawBufferPointer(records))
        }
    }
}

// MARK: - Making one

/// The header of a new backup key file, and the key that its keys are to be sealed under. The passphrase is not kept.
package struct FileKeyBackupSeal: Sendable {
    package let header: Data
    package let key: SecretBytes

    /// Takes a third of a second and 128 MiB with the default cost.
    ///
    /// - Throws: as ``Passcode/check(_:as:)`` for bytes that are no passphrase, `.allocation` if there is no memory for
    ///   it.
    package init(
        passphrase: SecretBytes, cost: UInt8 = PasscodeParameters.defaultCost,
        randomness: some Randomness = SystemRandomness()
    ) throws(KeychainError) {
        let made = try PassphraseHeader(FileKeyBackup.format, new: passphrase, cost: cost, randomness: randomness)
        header = made.bytes
        key = made.key.withUnsafeBytes { SecretBytes(copying: $0) }
    }
}

extension FileKeyBackup {
    /// The whole file.
    ///
    /// - Parameters:
    ///   - records: The output of ``Keybag/fileClassKeyRecords(_:)``.
    ///   - header: The header of the ``FileKeyBackupSeal`` that the key is from.
    package static func sealed(
        _ records: SecretBytes, storeID: UUID, header: Data, key: SecretBytes, randomness: some Randomness
    ) throws(KeychainError) -> Data {
        let start = header + withUnsafeBytes(of: storeID.uuid) { Data($0) }
        var nonce = Data(count: AESGCM.nonceByteCount)
        try nonce.withUnsafeMutableBytesTyped { bytes throws(KeychainError) in try randomness.fill(bytes) }
        var box = Data(count: records.count + AESGCM.overhead)
        let isSealed = box.withUnsafeMutableBytes { box in
            records.withUnsafeBytes { records in
                key.withUnsafeBytes { key in
                    nonce.withUnsafeBytes { nonce in
                        start.withUnsafeBytes { start in
                            AESGCM.seal(records, key: key, nonce: nonce, associated: start, into: box)
                        }
                    }
                }
            }
        }
        guard isSealed else { throw KeychainError(.internalFailure, message: "the backup key could not be sealed") }
        return start + box
    }
}
