internal import FoundationEssentials
package import KeychainModel

/// The unit that goes over a socket: a message, and the secrets that belong to it as raw bytes behind it
/// (docs/protocol.md).
///
/// Secrets are never fields of a message: a copy of one in a list of bytes that grows could not be erased.
package struct WireFrame: Sendable {
    /// A message of `Protos/keychain_wire.proto`.
    package var message: [UInt8]
    /// The tail, in the order in which the message speaks of them.
    package var secrets: [SecretBytes]

    package init(message: [UInt8], secrets: [SecretBytes] = []) {
        self.message = message
        self.secrets = secrets
    }

    /// - Throws: `.dataTooLarge` for a message of more than 2 GiB.
    init(_ message: MessageWriter) throws(KeychainError) {
        guard message.bytes.count <= Int(Int32.max) else {
            throw KeychainError(.dataTooLarge, message: "what was to be sent has more than 2 GiB")
        }
        self.init(message: message.bytes, secrets: message.secrets)
    }

    package var header: WireHeader {
        WireHeader(messageCount: message.count, tailCount: secrets.reduce(0) { $0 + $1.count })
    }
}

/// The eight bytes before a frame's message: how long it and the tail are, each in four bytes, the highest first.
package struct WireHeader: Sendable, Hashable {
    package static let byteCount = 8
    /// The most bytes of both together that a daemon takes: an item has at most 64 MiB (``Item/mostBytes``), and an
    /// import brings several.
    package static let mostBytes = 80 << 20

    package var messageCount: Int
    package var tailCount: Int

    package init(messageCount: Int, tailCount: Int) {
        self.messageCount = messageCount
        self.tailCount = tailCount
    }

    package var contentCount: Int { messageCount + tailCount }

    /// - Parameter bytes: Eight of them.
    package init(_ bytes: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> Int {
            Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        messageCount = number(0)
        tailCount = number(4)
    }

    /// - Parameter bytes: Eight of them.
    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: UInt32(messageCount).bigEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: UInt32(tailCount).bigEndian, toByteOffset: 4, as: UInt32.self)
    }
}

extension ContiguousBytes {
    func read<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes { bytes in Result { () throws(E) in try body(bytes) } }.get()
    }
}
