internal import KeychainKeys
internal import KeychainModel

extension KeychainSession {
    /// The one private key that a filter means.
    func privateKey(_ filter: KeyFilter) throws -> StoredKey {
        var query = try filter.items.query(for: .key)
        query.attributes[.keyClass] = .number(1)
        return try filter.items.naming { try StoredKey(try item(of: [[query]]), self) }
    }

    /// The public half of the one key that a filter means: a public key, or else the half of a private one.
    func publicKey(_ filter: KeyFilter) throws -> AsymmetricKey {
        var query = try filter.items.query(for: .key)
        query.attributes[.keyClass] = .number(0)
        do {
            return try StoredKey(try item(of: [[query]]), self).publicHalf
        } catch let error as KeychainError where error.code == .itemNotFound {
            return try privateKey(filter).publicHalf
        }
    }
}
