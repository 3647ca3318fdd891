internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

/// Makes and opens the keys of protected files. The contents of the files never come here.
struct FileKeyOperations {
    let storeID: UUID
    let keys: KeySession
    let randomness: any Randomness

    /// - Throws: `.interactionNotAllowed` if a class key that is needed is locked away, `.noSuchKeychain` if the class
    ///   key is missing, `.decode` if the file's key does not open under it, `.parameter` for sizes that no header has,
    ///   or `KeychainError.staleKeys` if the keys were renewed since the operation began.
    func answer(_ request: FileKeyRequest) throws(KeychainError) -> FileKey {
        switch request {
        case .make(let fileClass, let fileID):
            let key = try freshKey()
            return FileKey(wrapped: try wrap(key, fileID, for: fileClass), key: key)
        case .open(let wrapped):
            return FileKey(wrapped: wrapped, key: try unwrap(wrapped))
        case .rewrap(let wrapped, let fileClass):
            let key = try unwrap(wrapped)
            return FileKey(wrapped: try wrap(key, wrapped.fileID, for: fileClass), key: key)
        case .adopt(let key, let fileClass, let fileID):
            try key.requireFileKeySize()
            return FileKey(wrapped: try wrap(key, fileID, for: fileClass), key: key)
        }
    }

    /// - Returns: a backup key file with the class keys of every generation.
    /// - Throws: `.interactionNotAllowed` if a class key is locked away, since a backup has all keys.
    func backUp(_ request: FileKeyBackupRequest) throws(KeychainError) -> Data {
        try request.requireSizes()
        var sets: [KeyTier: KeySet] = [:]
        for tier in KeyTier.ofKeybag {
            guard let set = try keys.set(of: tier) else { throw keys.lockedError(tier) }
            sets[tier] = set
        }
        // The loop has set every tier of the keybag.
        let records = try keys.snapshot.bag.fileClassKeyRecords { sets[$0]! }
        return try FileKeyBackup.sealed(
            records, storeID: storeID, header: request.header, key: request.key, randomness: randomness)
    }

    private func freshKey() throws(KeychainError) -> SecretBytes {
        try SecretBytes(count: FileKey.byteCount) { target throws(KeychainError) in try randomness.fill(target) }
    }

    /// Wraps a file's key under the newest key of its class.
    private func wrap(
        _ key: SecretBytes, _ fileID: UUID, for fileClass: FileClass
    ) throws(KeychainError) -> WrappedFileKey {
        var wrapped = WrappedFileKey(
            fileID: fileID, storeID: storeID, fileClass: fileClass, generation: keys.generation, publicKey: Data(),
            wrappedKey: Data())
        let wrap = FileKeyWrap(storeID: storeID, fileID: fileID, fileClass: fileClass)
        try key.withUnsafeBytes { key throws(KeychainError) in
            if fileClass == .completeUnlessOpen {
                let recipient = try keys.publicKey(generation: wrapped.generation)
                (wrapped.publicKey, wrapped.wrappedKey) = try wrap.wrap(key, for: recipient, randomness: randomness)
            } else {
                wrapped.wrappedKey = try keys.withFileClassKey(fileClass, generation: wrapped.generation) {
                    classKey throws(KeychainError) in
                    try wrap.wrap(key, under: classKey)
                }
            }
        }
        return wrapped
    }

    private func unwrap(_ wrapped: WrappedFileKey) throws(KeychainError) -> SecretBytes {
        try wrapped.requireSizes()
        guard wrapped.storeID == storeID else {
            throw KeychainError(.noSuchKeychain, message: "the file belongs to another keychain")
        }
        let wrap = FileKeyWrap(storeID: storeID, fileID: wrapped.fileID, fileClass: wrapped.fileClass)
        return try keys.withFileClassKey(wrapped.fileClass, generation: wrapped.generation) {
            classKey throws(KeychainError) in
            try SecretBytes(count: FileKey.byteCount) { key throws(KeychainError) in
                if wrapped.fileClass == .completeUnlessOpen {
                    try wrap.unwrap(
                        wrapped.wrappedKey, from: wrapped.publicKey, privateKey: classKey,
                        recipient: try keys.publicKey(generation: wrapped.generation), into: key)
                } else {
                    try wrap.unwrap(wrapped.wrappedKey, under: classKey, into: key)
                }
            }
        }
    }
}

extension FileKeyRequest {
    /// Whether the request puts a file under a key of this store for the first time.
    var makesFile: Bool {
        switch self {
        case .make, .adopt: true
        case .open, .rewrap: false
        }
    }
}
