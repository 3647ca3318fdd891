internal import KeychainModel

extension ItemOperations {
    func find(_ request: FindRequest, from caller: Caller) throws -> [Item] {
        if request.query.itemClass == .identity { return try findIdentities(request, from: caller) }
        let scope = try AccessPolicy(caller: caller).scopeForReading(request.query.accessGroup)
        let items = try read { try find(request, in: scope, on: $0) }
        guard !items.isEmpty else { throw KeychainError(notFound: request.query) }
        return items
    }

    private func find(
        _ request: FindRequest, in scope: GroupScope, on connection: StoreConnection
    ) throws -> [Item] {
        let query = request.query
        let maximum = query.limit.maximum
        guard maximum > 0 else { return [] }
        var found = FoundItems(most: configuration.mostBytesInAnswer)
        let counted =
            maximum > 1 && query.persistentReference == nil
            ? try withMemory(forAll: query, in: scope, wantsSecrets: request.wantsSecrets, on: connection) : self
        try counted.forEachMatch(of: query, in: scope, on: connection, wantsSecrets: request.wantsSecrets) { row in
            guard
                let row = try counted.readable(
                    row, query.authenticationUI, wantsSecret: request.wantsSecrets, on: connection)
            else { return true }
            try found.append(row.item)
            return found.items.count < maximum
        }
        return found.items
    }

    /// A row as part of an answer, nil if it is left out. A search does not open the secret of a constrained row; this
    /// call does.
    ///
    /// - Throws: as ``Authentication/permits(_:_:_:hasPasscode:)``, or `.authenticationFailed` for a wrong application
    ///   password.
    func readable(
        _ row: OpenedRow, _ ui: ItemQuery.AuthenticationUI, wantsSecret: Bool, on connection: StoreConnection
    ) throws -> OpenedRow? {
        // The constraints of such a key hold for its use (ItemOperations+Keys.swift).
        if row.item.isKeptInEngine { return row }
        let control = row.item.accessControl
        guard control.isConstrained else { return row }
        guard try authentication.permits(control, .read, ui, hasPasscode: hasPasscode) else { return nil }
        // The row is opened even if only attributes are wanted: only opening shows whether an application password is
        // right.
        guard wantsSecret || control.isSealedWithApplicationPassword else { return row }
        guard var whole = try openWhole(row.id, as: row.item.itemClass, on: connection) else { return nil }
        if !wantsSecret { whole.item.secret = nil }
        return whole
    }
}

extension KeychainError {
    /// The message names the attributes that the query asked for, never their values.
    init(notFound query: ItemQuery) {
        var asked = query.attributes.entries.map(\.attribute.name)
        if query.persistentReference != nil { asked.append("a persistent reference") }
        if let group = query.accessGroup { asked.append("access group \(group)") }
        if query.protection != nil { asked.append(Attribute.accessible.name) }
        if query.synchronizable == .yes { asked.append(Attribute.synchronizable.name) }
        let attributes = asked.isEmpty ? "" : " matches \(asked.joined(separator: ", "))"
        self.init(.itemNotFound, message: "no \(query.itemClass.title)\(attributes.isEmpty ? " is there" : attributes)")
    }
}

extension ItemQuery.Limit {
    var maximum: Int {
        switch self {
        case .one: 1
        case .atMost(let count): count
        case .all: .max
        }
    }
}
