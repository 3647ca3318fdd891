internal import KeychainModel

/// The tail of a frame that is read: the secrets of its message, in the order in which the message speaks of them.
struct WireTail {
    private let bytes: SecretBytes?
    private var offset = 0

    /// - Parameter bytes: nil: there was none.
    init(_ bytes: SecretBytes?) { self.bytes = bytes }

    private var remaining: Int { (bytes?.count ?? 0) - offset }

    /// The next secret.
    ///
    /// - Throws: `.parameter` if fewer bytes are left.
    mutating func take(_ size: UInt64) throws(KeychainError) -> SecretBytes {
        guard size <= UInt64(remaining) else {
            throw KeychainError(.parameter, message: "the message speaks of more secrets than came with it")
        }
        let count = Int(size)
        // If the secret is the whole tail, no copy is made, which would have to be erased too.
        if let bytes, count == bytes.count {
            offset = count
            return bytes
        }
        defer { offset += count }
        return SecretBytes(count: count) { target in
            bytes?.withUnsafeBytes { target.copyMemory(from: .init(rebasing: $0[offset..<(offset + count)])) }
        }
    }

    /// - Parameter size: nil: there is no such secret, which is something else than an empty one.
    mutating func take(ifAny size: UInt64?) throws(KeychainError) -> SecretBytes? {
        guard let size else { return nil }
        return try take(size)
    }

    /// - Throws: `.parameter` for a secret that must be there and is not.
    mutating func take(_ name: String, _ size: UInt64?) throws(KeychainError) -> SecretBytes {
        guard let size else { throw KeychainError(.parameter, message: "the message has no \(name)") }
        return try take(size)
    }

    var isAtEnd: Bool { remaining == 0 }

    /// - Throws: `.parameter` if more bytes came than the message speaks of.
    func requireEnd() throws(KeychainError) {
        guard isAtEnd else {
            throw KeychainError(.parameter, message: "more secrets came with the message than it speaks of")
        }
    }
}
