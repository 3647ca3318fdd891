internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

extension StoredKey {
    /// The key of an item, in the engine or as software.
    ///
    /// - Throws: `.decode` if the item's bytes are no key.
    init(_ item: Item, _ session: KeychainSession) throws(KeychainError) {
        if let key = EngineKey(item, in: session.connection, session.asking) {
            self = .engine(key)
        } else {
            self = .software(try AsymmetricKey(item.attributes, item.secret))
        }
    }
}
