internal import KeychainModel
internal import KeychainTransfer

/// A key for one-time codes is the secret of a generic password beside the item that it belongs to.
enum OneTimeItem {
    /// The prefix before the name of the item that the code is for.
    static let prefix = "otpauth:"

    /// Whether the item of a name has a key beside it. The key keeps its name if the item is renamed or removed.
    static func isBeside(_ name: String, _ session: KeychainSession) throws -> Bool {
        if name.hasPrefix(prefix) { return false }
        var query = ItemQuery(.genericPassword)
        query.attributes[.service] = .text(prefix + name)
        query.synchronizable = .any
        return try session.has(query)
    }

    /// - Throws: `.parameter` if the item has no such key.
    static func key(of item: Item) throws -> OneTimeKey {
        let secret = try item.requireSecret()
        if case .text(let service)? = item.attributes[.service], service.hasPrefix(prefix) { return try key(secret) }
        return try OneTimeKey(lineOf: secret)
    }

    /// The key whose text is the whole secret.
    static func key(_ secret: SecretBytes) throws(KeychainError) -> OneTimeKey {
        try secret.withUnsafeBytes { (bytes) throws(KeychainError) in try OneTimeKey(text: bytes) }
    }
}
