internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

/// The items of one helper. They have its class, its access group and its mark, which is the description
/// (`kSecAttrDescription`). A helper finds, changes and removes no other items.
struct HelperItems {
    private let itemClass: ItemClass
    /// nil: every item of the class in the group.
    private let mark: String?
    private let connection: Connection

    init(_ itemClass: ItemClass, mark: String?, _ connection: Connection = Self.connection) {
        (self.itemClass, self.mark, self.connection) = (itemClass, mark, connection)
    }

    /// A connection to the keychain that all programs of this user share. `keychainctl` has the same group, so that the
    /// command and the helpers see the same items.
    static var connection: Connection {
        var configuration = KeychainConfiguration()
        configuration.accessGroups = [KeychainConfiguration.groupOfCommand]
        return Connection(configuration)
    }

    // MARK: Finding

    /// The items with these attributes, the latest first. A search asks no person for anything.
    ///
    /// - Parameter leavingOut: Whether items that ask for authentication are left out.
    /// - Throws: `.interactionNotAllowed` if the keychain is locked, or an item asks for authentication.
    func find(_ attributes: AttributeSet, leavingOut: Bool = false) throws(KeychainError) -> [Item] {
        var query = query(attributes)
        if leavingOut { query.authenticationUI = .skip }
        return try find(query, wantsSecrets: false).sorted { $0.modified > $1.modified }
    }

    /// The secret of an item that was found.
    ///
    /// - Throws: as ``Connection/item(_:_:)``, and `.itemNotFound` for an item without a secret.
    func secret(of item: Item) throws(KeychainError) -> SecretBytes {
        // A search makes no store.
        if try connection.placeOfMissingStore() != nil { throw .gone }
        if let secret = try connection.item(query(item)).secret { return secret }
        throw KeychainError(.itemNotFound, message: "the item has no secret")
    }

    /// nil: the item is gone, or its secret is damaged; a search for secrets leaves out damaged ones.
    private func soundSecret(of item: Item) throws(KeychainError) -> SecretBytes? {
        try find(query(item), wantsSecrets: true).first?.secret
    }

    private func find(_ query: ItemQuery, wantsSecrets: Bool) throws(KeychainError) -> [Item] {
        // A search makes no store.
        if try connection.placeOfMissingStore() != nil { return [] }
        return try connection.items(query, wantsSecrets: wantsSecrets)
    }

    private func query(_ attributes: AttributeSet) -> ItemQuery {
        var query = ItemQuery(itemClass)
        query.attributes = attributes
        if let mark { query.attributes[.description] = .text(mark) }
        query.synchronizable = .any
        query.limit = .all
        query.authenticationUI = .fail
        return query
    }

    private func query(_ item: Item) -> ItemQuery {
        var query = ItemQuery(exactly: item.persistentReference)
        query.authenticationUI = .fail
        return query
    }

    // MARK: Changing

    /// Stores a secret, in place of all others with the attributes of `scope`. A secret that is there already is not
    /// written again.
    ///
    /// - Parameters:
    ///   - attributes: All attributes that make an item unique.
    ///   - scope: The attributes that name the purpose of the secret.
    /// - Throws: `.duplicateItem` if an item without the mark has these attributes.
    func store(
        _ secret: SecretBytes, _ attributes: AttributeSet, label: String, replacing scope: AttributeSet
    ) throws(KeychainError) {
        var request = AddRequest(itemClass)
        request.attributes = attributes
        request.attributes[.label] = .text(label)
        request.attributes[.description] = mark.map { .text($0) }
        request.secret = secret
        try connection.untilUndisturbed { () throws(KeychainError) in
            let query = query(scope)
            let present = try find(query, wantsSecrets: false)
            let same = present.first { $0.has(attributes) }
            if let same, present.count == 1, try soundSecret(of: same)?.hasSameBytes(as: secret) == true { return () }
            var steps = present.filter { $0.identifier != same?.identifier }.map {
                TransactionRequest.Step.delete(self.query($0))
            }
            if let same {
                var changes = ItemChanges()
                changes.secret = secret
                steps.append(.update(UpdateRequest(self.query(same), changes: changes)))
            } else {
                steps.append(.add(request))
            }
            return try commit(steps, seen: present, query) ? () : nil
        }
    }

    /// Removes the items that have the attributes of `scope` and a secret that is meant.
    ///
    /// - Parameter isMeant: nil: every secret is meant.
    /// - Returns: the number of removed items.
    /// - Throws: `.interactionNotAllowed` if the keychain is locked, because the secrets cannot be compared then.
    @discardableResult
    func erase(_ scope: AttributeSet, ifSecretIs isMeant: ((SecretBytes) -> Bool)? = nil) throws(KeychainError) -> Int {
        try connection.untilUndisturbed { () throws(KeychainError) in
            let query = query(scope)
            let present = try find(query, wantsSecrets: false)
            var steps: [TransactionRequest.Step] = []
            for item in present {
                if let isMeant, try !(soundSecret(of: item).map(isMeant) ?? false) { continue }
                steps.append(.delete(self.query(item)))
            }
            if steps.isEmpty { return 0 }
            return try commit(steps, seen: present, query) ? steps.count : nil
        }
    }

    /// - Returns: false if another program has changed the items meanwhile; then nothing was changed.
    private func commit(
        _ steps: [TransactionRequest.Step], seen: [Item], _ query: ItemQuery
    ) throws(KeychainError) -> Bool {
        let seen = [SeenItems(query, versions: seen.map { ItemVersion($0) }, hasSecrets: false)]
        do throws(KeychainError) {
            return try connection.ask(.commit(TransactionRequest(seen: seen, steps: steps)))
        } catch  where error.code == .duplicateItem {
            // Either another process was quicker, or the item that is there is not this helper's.
            if try !find(self.query(steps.attributesToAdd), wantsSecrets: false).isEmpty { return false }
            throw KeychainError(
                .duplicateItem,
                message: "the keychain has such an item already, which is not this helper's: its description is not "
                    + "\"\(mark ?? "")\". It was left as it is; delete it, or give it that description, with 'keychainctl'",
                cause: error)
        }
    }
}

extension [TransactionRequest.Step] {
    fileprivate var attributesToAdd: AttributeSet {
        for case .add(let request) in self {
            var attributes = request.attributes
            attributes[.label] = nil
            return attributes
        }
        return AttributeSet()
    }
}

extension Item {
    fileprivate func has(_ wanted: AttributeSet) -> Bool {
        wanted.entries.allSatisfy { attributes[$0.attribute].map($0.value.matches) ?? false }
    }

    /// The bytes of an attribute that is text or data.
    func bytes(_ attribute: Attribute) -> Data? {
        switch attributes[attribute] {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        case .number, .date, nil: nil
        }
    }

    func text(_ attribute: Attribute) -> String? { attributes[attribute]?.text }
}

extension AttributeValue {
    /// Bytes that are UTF-8 become text, as people and other programs write it.
    init(bytes: Data) { self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .data(bytes) }
}
