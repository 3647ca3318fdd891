internal import KeychainModel
internal import KeychainTransfer

/// How keys for one-time codes are kept: each is the secret of a generic password beside the one it belongs to.
enum OneTimeItem {
    /// Before the name of the item that the code is for.
    static let prefix = "otpauth:"

    /// Whether there is one for the item of a name. It keeps its own name, whatever becomes of that item.
    static func isBeside(_ name: String, _ session: KeychainSession) throws -> Bool {
        if name.hasPrefix(prefix) { return false }
        var query = ItemQuery(.genericPassword)
        query.attributes[.service] = .text(prefix + name)
        query.synchronizable = .any
        return try session.has(query)
    }

    /// - Throws: `.parameter` if it has no such key.
    static func key(of item: Item) throws -> OneTimeKey {
        let secret = try item.requireSecret()
        if case .text(let service)? = item.attributes[.service], service.hasPrefix(prefix) { return try key(secret) }
        return try secret.withUnsafeBytes { (bytes) throws(KeychainError) in
            guard let range = OneTimeKey.range(in: bytes) else {
                throw KeychainError(
                    .parameter,
                    message:
                        "the item has no key for one-time codes: none of the lines of its secret begins with 'otpauth://'"
                )
            }
            return try OneTimeKey(text: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// The key that a secret is as a whole.
    static func key(_ secret: SecretBytes) throws(KeychainError) -> OneTimeKey {
        try secret.withUnsafeBytes { (bytes) throws(KeychainError) in try OneTimeKey(text: bytes) }
    }
}
