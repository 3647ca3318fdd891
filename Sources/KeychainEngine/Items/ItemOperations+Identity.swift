internal import KeychainModel

/// A certificate and a private key that belong together: the certificate's public-key hash is the key's
/// application label, and both are synchronizable, or neither is. One key with two certificates makes two identities.
private struct Identity {
    var certificate: OpenedRow
    var key: OpenedRow
}

extension ItemOperations {
    func findIdentities(_ request: FindRequest, from caller: Caller) throws -> [Item] {
        let query = request.query
        let policy = AccessPolicy(caller: caller)
        let maximum = query.limit.maximum
        // The number of pairs is not known before they are found.
        var found = FoundItems(most: configuration.mostBytesInAnswer, mostBytes: mostBytes)
        try read { connection in
            let search = try IdentitySearch(query, scope: policy.scopeForReading, wantsSecrets: request.wantsSecrets)
            guard maximum > 0 else { return }
            try forEachIdentity(of: search, on: connection) { identity in
                guard
                    let certificate = try readable(
                        identity.certificate, query.authenticationUI, wantsSecret: request.wantsSecrets, on: connection),
                    let key = try readable(
                        identity.key, query.authenticationUI, wantsSecret: request.wantsSecrets, on: connection)
                else { return true }
                try found.append(Item(Identity(certificate: certificate, key: key)))
                return found.items.count < maximum
            }
        }
        guard !found.items.isEmpty else { throw KeychainError(notFound: query) }
        return found.items
    }

    /// Applies the same changes to the certificate and to the key of every identity found.
    func updateIdentities(_ request: UpdateRequest, from caller: Caller) throws {
        guard request.changes.secret == nil else {
            throw KeychainError(
                .parameter, message: "an identity has no data of its own: update its certificate or its key")
        }
        try requireSharedAttributes(request.changes.attributes)
        let policy = AccessPolicy(caller: caller)
        let search = try IdentitySearch(request.query, scope: policy.scopeForWriting, wantsSecrets: false)
        let everything = try IdentitySearch(
            ItemQuery(.identity, synchronizable: .any), scope: policy.scopeForWriting, wantsSecrets: false)
        if let group = request.changes.accessGroup { _ = try policy.groupForAdding(group) }
        let changes = try bound(request.changes)
        try write { connection in
            let identities = try identities(of: search, on: connection)
            guard !identities.isEmpty else { throw KeychainError(notFound: request.query) }
            let ui = request.query.authenticationUI
            let present = try identities.filter { identity in
                try mayChange(identity.certificate.item, ui) && mayChange(identity.key.item, ui)
            }
            guard !present.isEmpty else { throw KeychainError(notFound: request.query) }
            if let synchronizable = changes.synchronizable {
                try requireNoOther(
                    than: present.filter { $0.key.item.synchronizable != synchronizable }, everything, on: connection)
            }
            let halves =
                Set(present.map(\.certificate.id)).map { ($0, ItemClass.certificate) }
                + Set(present.map(\.key.id)).map { ($0, ItemClass.key) }
            for (id, itemClass) in halves {
                // A half whose secret is damaged must not be left behind by the other half.
                guard try update(id, as: itemClass, changes, on: connection) else {
                    throw KeychainError(notFound: request.query)
                }
            }
        }
    }

    /// Deletes the certificates of the identities found, and those of their keys that no other certificate needs. A
    /// half that the query would not mean by itself stays.
    ///
    /// - Returns: the number of identities.
    func deleteIdentities(_ query: ItemQuery, from caller: Caller) throws -> Int {
        let policy = AccessPolicy(caller: caller)
        let search = try IdentitySearch(query, scope: policy.scopeForWriting, wantsSecrets: false)
        let scope = try policy.scopeForWriting(query.accessGroup)
        let certificates = ItemMatcher(query: query.half(.certificate), scope: scope)
        let keys = ItemMatcher(query: query.half(.key), scope: scope)
        let everything = try IdentitySearch(
            ItemQuery(.identity, synchronizable: .any), scope: policy.scopeForWriting, wantsSecrets: false)
        return try write { connection in
            let identities = try identities(of: search, on: connection).filter { identity in
                try certificates.matches(identity.certificate.item)
                    && mayDelete(identity.certificate.item, query.authenticationUI)
                    && mayDelete(identity.key.item, query.authenticationUI)
            }
            guard !identities.isEmpty else { throw KeychainError(notFound: query) }
            for id in Set(identities.map(\.certificate.id)) { try connection.delete(id) }
            let meant = identities.filter { keys.matches($0.key.item) }
            for identity in Dictionary(grouping: meant, by: \.key.id).compactMap(\.value.first) {
                var isNeeded = false
                try forEachCertificate(of: identity.key, everything, on: connection) { _ in
                    isNeeded = true
                    return false
                }
                if !isNeeded { try connection.delete(identity.key.id) }
            }
            return identities.count
        }
    }

    /// - Throws: `.parameter` if another identity shares a half with one of these, since its halves would not belong
    ///   together any more.
    private func requireNoOther(
        than identities: [Identity], _ everything: IdentitySearch, on connection: StoreConnection
    ) throws {
        let (certificates, keys) = (Set(identities.map(\.certificate.id)), Set(identities.map(\.key.id)))
        func require(_ isMeant: Bool) throws(KeychainError) {
            if isMeant { return }
            throw KeychainError(
                .parameter,
                message: "another identity shares the key or the certificate, and would be gone if only one of the two "
                    + "is synchronizable: update all of them at once")
        }
        for identity in identities {
            try forEachCertificate(of: identity.key, everything, on: connection) { certificate in
                try require(certificates.contains(certificate.id))
                return true
            }
            guard let query = everything.keyQuery(for: identity.certificate) else { continue }
            try forEachPrivateKey(of: query, everything, on: connection) { key in
                try require(keys.contains(key.id))
                return true
            }
        }
    }

    private func requireSharedAttributes(_ attributes: AttributeSet) throws(KeychainError) {
        for (attribute, _) in attributes.entries
        where AttributeTable.table(for: .certificate)[attribute] == nil
            || AttributeTable.table(for: .key)[attribute] == nil
        {
            throw KeychainError(
                .noSuchAttribute, message: "\(attribute.name) is not an attribute of both halves of an identity")
        }
    }
}

// MARK: - The join

/// A query for identities, split into a query for the certificate and one for the key.
private struct IdentitySearch {
    var certificate: ItemQuery
    var key: ItemQuery
    var certificateScope: GroupScope
    var keyScope: GroupScope
    var wantsSecrets: Bool

    /// The attributes of an identity that describe the certificate; every other attribute describes the key.
    private static let certificateAttributes: Set<Attribute> = [
        .label, .issuer, .serialNumber, .subjectKeyID, .tokenID, .subject, .publicKeyHash, .certificateType,
        .certificateEncoding,
    ]

    init(
        _ query: ItemQuery, scope: (String?) throws(KeychainError) -> GroupScope, wantsSecrets: Bool
    ) throws(KeychainError) {
        certificate = ItemQuery(.certificate, synchronizable: query.synchronizable)
        key = query
        key.itemClass = .key
        key.attributes = AttributeSet()
        key.persistentReference = nil
        certificate.persistentReference = query.persistentReference
        for (attribute, value) in query.attributes.entries {
            if Self.certificateAttributes.contains(attribute) {
                certificate.attributes.append(attribute, value)
            } else {
                key.attributes.append(attribute, value)
            }
        }
        certificateScope = try scope(nil)
        keyScope = try scope(query.accessGroup)
        self.wantsSecrets = wantsSecrets
    }

    /// Whether a search that starts with the key looks at fewer rows.
    var startsWithKey: Bool {
        certificate.attributes.isEmpty && certificate.persistentReference == nil && !key.attributes.isEmpty
    }

    func keyQuery(for certificate: OpenedRow) -> ItemQuery? {
        guard let hash = certificate.item.attributes[.publicKeyHash] else { return nil }
        if let asked = key.attributes[.applicationLabel], !asked.matches(hash) { return nil }
        var query = key
        query.attributes[.applicationLabel] = hash
        query.synchronizable = certificate.item.synchronizable ? .yes : .no
        return query
    }

    func certificateQuery(for key: OpenedRow) -> ItemQuery? {
        guard let label = key.item.attributes[.applicationLabel] else { return nil }
        var query = certificate
        query.attributes[.publicKeyHash] = label
        query.synchronizable = key.item.synchronizable ? .yes : .no
        return query
    }
}

extension ItemOperations {
    private func identities(of search: IdentitySearch, on connection: StoreConnection) throws -> [Identity] {
        var identities: [Identity] = []
        try forEachIdentity(of: search, on: connection) {
            identities.append($0)
            return true
        }
        return identities
    }

    private func forEachIdentity(
        of search: IdentitySearch, on connection: StoreConnection, _ body: (Identity) throws -> Bool
    ) throws {
        if search.startsWithKey {
            try forEachPrivateKey(of: search.key, search, on: connection) { key in
                try forEachCertificate(of: key, search, on: connection) { certificate in
                    try body(Identity(certificate: certificate, key: key))
                }
            }
        } else {
            try forEachMatch(
                of: search.certificate, in: search.certificateScope, on: connection, wantsSecrets: search.wantsSecrets
            ) { certificate in
                guard let query = search.keyQuery(for: certificate) else { return true }
                return try forEachPrivateKey(of: query, search, on: connection) { key in
                    try body(Identity(certificate: certificate, key: key))
                }
            }
        }
    }

    /// - Returns: false if `body` ended the search.
    @discardableResult
    private func forEachPrivateKey(
        of query: ItemQuery, _ search: IdentitySearch, on connection: StoreConnection,
        _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try forEachMatch(of: query, in: search.keyScope, on: connection, wantsSecrets: search.wantsSecrets) { key in
            guard key.item.attributes[.keyClass] == .number(1) else { return true }
            goesOn = try body(key)
            return goesOn
        }
        return goesOn
    }

    /// - Returns: false if `body` ended the search.
    @discardableResult
    private func forEachCertificate(
        of key: OpenedRow, _ search: IdentitySearch, on connection: StoreConnection,
        _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard let query = search.certificateQuery(for: key) else { return true }
        var goesOn = true
        try forEachMatch(
            of: query, in: search.certificateScope, on: connection, wantsSecrets: search.wantsSecrets
        ) { certificate in
            goesOn = try body(certificate)
            return goesOn
        }
        return goesOn
    }
}

extension Item {
    /// Has the key's attributes overlaid with the certificate's. The reference is the certificate's, with a class of
    /// its own.
    fileprivate init(_ identity: Identity) {
        self = identity.certificate.item
        itemClass = .identity
        certificate = identity.certificate.item.secret
        secret = identity.key.item.secret
        // The identity ends as soon as one half does.
        expires = [expires, identity.key.item.expires].compactMap(\.self).min()
        attributes = identity.key.item.attributes
        for (attribute, value) in identity.certificate.item.attributes.entries { attributes[attribute] = value }
    }
}

extension ItemQuery {
    fileprivate init(_ itemClass: ItemClass, synchronizable: Synchronizable) {
        self.init(itemClass)
        self.synchronizable = synchronizable
    }

    /// The part of a query for identities that one half can answer: an attribute that the half's class lacks is left
    /// out.
    fileprivate func half(_ itemClass: ItemClass) -> ItemQuery {
        var half = self
        half.itemClass = itemClass
        half.persistentReference = nil
        half.attributes = AttributeSet()
        let table = AttributeTable.table(for: itemClass)
        for (attribute, value) in attributes.entries where table[attribute] != nil {
            half.attributes.append(attribute, value)
        }
        return half
    }
}
