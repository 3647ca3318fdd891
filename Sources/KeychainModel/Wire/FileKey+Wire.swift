internal import Foundation

// The keys of protected files. What is wrapped is no secret; the key itself is in the tail.

extension WireMakeFileKey {
    init(_ fileClass: FileClass, _ fileID: UUID) {
        self.init()
        self.fileClass = WireFileClass(fileClass)
        self.fileID = fileID.wireBytes
    }
}

extension WireRewrapFileKey {
    init(_ wrapped: WrappedFileKey, _ fileClass: FileClass) {
        self.init()
        key = WireWrappedFileKey(wrapped)
        self.fileClass = WireFileClass(fileClass)
    }
}

extension WireAdoptFileKey {
    init(_ key: SecretBytes, _ fileClass: FileClass, _ fileID: UUID, _ secrets: inout [SecretBytes]) {
        self.init()
        keySize = secrets.size(adding: key)
        self.fileClass = WireFileClass(fileClass)
        self.fileID = fileID.wireBytes
    }
}

extension WireBackUpFileKeys {
    init(_ request: FileKeyBackupRequest, _ secrets: inout [SecretBytes]) {
        self.init()
        header = request.header
        keySize = secrets.size(adding: request.key)
    }
}

extension FileKeyBackupRequest {
    init(_ wire: WireBackUpFileKeys, _ tail: inout WireTail) throws(KeychainError) {
        self.init(header: wire.header, key: try tail.take("key", wire.hasKeySize ? wire.keySize : nil))
        try requireSizes()
    }
}

extension FileKeyRequest {
    init(_ wire: WireAdoptFileKey, _ tail: inout WireTail) throws(KeychainError) {
        let key = try tail.take("key", wire.hasKeySize ? wire.keySize : nil)
        try key.requireFileKeySize()
        self = .adopt(key, try FileClass(wire.fileClass), fileID: try UUID(wireBytes: wire.fileID))
    }

    init(_ wire: WireMakeFileKey) throws(KeychainError) {
        self = .make(try FileClass(wire.fileClass), fileID: try UUID(wireBytes: wire.fileID))
    }

    init(_ wire: WireRewrapFileKey) throws(KeychainError) {
        self = .rewrap(try WrappedFileKey(wire.key), try FileClass(wire.fileClass))
    }
}

extension WireWrappedFileKey {
    init(_ wrapped: WrappedFileKey) {
        self.init()
        fileID = wrapped.fileID.wireBytes
        storeID = wrapped.storeID.wireBytes
        fileClass = WireFileClass(wrapped.fileClass)
        generation = wrapped.generation
        publicKey = wrapped.publicKey
        wrappedKey = wrapped.wrappedKey
    }
}

extension WrappedFileKey {
    /// - Throws: `.parameter` for what no header has.
    init(_ wire: WireWrappedFileKey) throws(KeychainError) {
        self.init(
            fileID: try UUID(wireBytes: wire.fileID), storeID: try UUID(wireBytes: wire.storeID),
            fileClass: try FileClass(wire.fileClass), generation: wire.generation, publicKey: wire.publicKey,
            wrappedKey: wire.wrappedKey)
        try requireSizes()
    }
}

extension WireFileKey {
    init(_ key: FileKey, _ secrets: inout [SecretBytes]) {
        self.init()
        wrapped = WireWrappedFileKey(key.wrapped)
        keySize = secrets.size(adding: key.key)
    }
}

extension FileKey {
    init(_ wire: WireFileKey, _ tail: inout WireTail) throws(KeychainError) {
        let key = try tail.take("key", wire.hasKeySize ? wire.keySize : nil)
        try key.requireFileKeySize()
        self.init(wrapped: try WrappedFileKey(wire.wrapped), key: key)
    }
}

extension WireFileClass {
    init(_ fileClass: FileClass) {
        self =
            switch fileClass {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .none: .none
            }
    }
}

extension FileClass {
    init(_ wire: WireFileClass) throws(KeychainError) {
        switch wire {
        case .complete: self = .complete
        case .completeUnlessOpen: self = .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: self = .completeUntilFirstUserAuthentication
        case .none: self = .none
        case .unspecified, .UNRECOGNIZED: throw .unknown("file class", wire.rawValue)
        }
    }
}
