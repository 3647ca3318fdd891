internal import FoundationEssentials
internal import KeychainModel

// The keys of protected files. The wrapped keys are no secret; the key itself is in the tail.

extension WrappedFileKey: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, fileID)
        message.add(2, storeID)
        message.add(3, fileClass)
        message.add(4, generation)
        message.add(5, publicKey)
        message.add(6, wrappedKey)
    }

    /// - Throws: `.parameter` for sizes or numbers that no header has.
    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            fileID: try required("file's identifier", message.value(1)),
            storeID: try required("store's identifier", message.value(2)), fileClass: try required(message.value(3)),
            generation: try message.value(4) ?? 0, publicKey: try message.value(5) ?? Data(),
            wrappedKey: try message.value(6) ?? Data())
        try requireSizes()
    }
}

extension FileKey: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, message: wrapped)
        message.add(2, secret: key)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let wrapped = try WrappedFileKey(try required("wrapped key", message.value(1)), &tail)
        self.init(wrapped: wrapped, key: try tail.takeFileKey(message.value(2)))
    }
}

extension FileKeyRequest {
    func write(to message: inout MessageWriter) {
        switch self {
        case .make(let fileClass, let fileID):
            message.add(1, fileClass)
            message.add(2, fileID)
        case .open(let wrapped): wrapped.write(to: &message)
        case .rewrap(let wrapped, let fileClass):
            message.add(1, message: wrapped)
            message.add(2, fileClass)
        case .adopt(let key, let fileClass, let fileID):
            message.add(1, secret: key)
            message.add(2, fileClass)
            message.add(3, fileID)
        }
    }

    static func make(_ message: MessageReader) throws(KeychainError) -> FileKeyRequest {
        .make(try required(message.value(1)), fileID: try required("file's identifier", message.value(2)))
    }

    static func rewrap(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) -> FileKeyRequest {
        let wrapped = try WrappedFileKey(try required("wrapped key", message.value(1)), &tail)
        return .rewrap(wrapped, try required(message.value(2)))
    }

    static func adopt(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) -> FileKeyRequest {
        let key = try tail.takeFileKey(message.value(1))
        return .adopt(
            key, try required(message.value(2)), fileID: try required("file's identifier", message.value(3)))
    }
}

extension WireTail {
    fileprivate mutating func takeFileKey(_ size: UInt64?) throws(KeychainError) -> SecretBytes {
        let key = try take("key", size)
        try key.requireFileKeySize()
        return key
    }
}

extension FileKeyBackupRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, header)
        message.add(2, secret: key)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(header: try message.value(1) ?? Data(), key: try tail.take("key", message.value(2)))
        try requireSizes()
    }
}
