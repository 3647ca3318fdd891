package import Foundation

/// What goes over a socket in one piece: a message, and the secrets that belong to it as raw bytes behind it
/// (docs/protocol.md).
///
/// Secrets are never fields of a message: the copies that generated code makes cannot be erased.
package struct WireFrame: Sendable {
    /// A message of `Protos/keychain_wire.proto`.
    package var message: Data
    /// The tail, in the order in which the message speaks of them.
    package var secrets: [SecretBytes]

    package init(message: Data, secrets: [SecretBytes] = []) {
        self.message = message
        self.secrets = secrets
    }

    package var header: WireHeader {
        WireHeader(messageCount: message.count, tailCount: secrets.reduce(0) { $0 + $1.count })
    }
}

/// The eight bytes before a frame's message: how long it and the tail are, each in four bytes, the highest first.
package struct WireHeader: Sendable, Hashable {
    package static let byteCount = 8
    /// What a daemon takes of either: an item has at most 64 MiB (``FoundItem/mostBytes``), and an import brings several.
    package static let mostBytes = 80 << 20

    package var messageCount: Int
    package var tailCount: Int

    package init(messageCount: Int, tailCount: Int) {
        self.messageCount = messageCount
        self.tailCount = tailCount
    }

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
