internal import ArgumentParser
internal import KeychainClient
internal import KeychainKeys
internal import KeychainModel

/// The key that a command uses. Its options are those of ``ItemFilter`` that keys have.
struct KeyFilter: ParsableArguments {
    @Option(help: "The tag, by which programs name their keys.") var tag: String?
    @Option(help: "The label, for people.") var label: String?
    @Option(help: ArgumentHelp("SHA-1 of the public key, as --json shows it.", valueName: "base64"))
    var applicationLabel: Base64Argument?
    @Option(help: "The access group.") var group: String?
    @Option(help: ArgumentHelp("One key, by the reference that --json shows.", valueName: "base64"))
    var reference: String?

    func validate() throws { try items.validate() }

    var items: ItemFilter {
        var items = ItemFilter(ItemClass.key.name)
        (items.tag, items.label, items.applicationLabel) = (tag, label, applicationLabel)
        (items.group, items.reference) = (group, reference)
        return items
    }
}

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
