package import KeychainModel

extension ItemOperations {
    /// Changes every item that the query means, or none.
    func update(_ request: UpdateRequest, from caller: Caller) throws {
        if request.query.itemClass == .identity { return try updateIdentities(request, from: caller) }
        let update = try preparedUpdate(request, from: caller)
        try write(update)
    }

    /// Does the part of an update that needs no transaction, and returns the rest.
    func preparedUpdate(
        _ request: UpdateRequest, from caller: Caller
    ) throws(KeychainError) -> (StoreConnection) throws -> Void {
        let policy = AccessPolicy(caller: caller)
        let scope = try policy.scopeForWriting(request.query.accessGroup)
        if let group = request.changes.accessGroup { _ = try policy.groupForAdding(group) }
        let changes = try bound(request.changes)
        return { connection in
            // Every update opens the secret, so it needs the consent that reading needs.
            let ids = try matchingRows(of: request.query, in: scope, on: connection) { row in
                try mayChange(row.item, request.query.authenticationUI)
            }
            let updated = try ids.filter {
                try update($0, as: request.query.itemClass, changes, on: connection)
            }
            guard !updated.isEmpty else { throw KeychainError(notFound: request.query) }
        }
    }

    /// - Returns: false if the row does not exist for this caller.
    /// - Throws: as ``Authentication/permits(_:_:_:hasPasscode:)``.
    func mayChange(_ item: Item, _ ui: ItemQuery.AuthenticationUI) throws(KeychainError) -> Bool {
        let operation: AccessControl.Operation = item.isKeptInEngine ? .use : .read
        return try authentication.permits(item.accessControl, operation, ui, hasPasscode: hasPasscode)
    }

    /// Binds a new access control to the present enrolment. This precedes the transaction, since the reader has to be
    /// looked at.
    func bound(_ changes: ItemChanges) throws(KeychainError) -> ItemChanges {
        var changes = changes
        if let control = changes.accessControl {
            changes.accessControl = try binding(control)
        }
        return changes
    }

    /// The rows that a query means, all found before the first one is changed.
    ///
    /// - Parameter isMeant: Decides about each row that matches.
    func matchingRows(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection,
        _ isMeant: (OpenedRow) throws -> Bool = { _ in true }
    ) throws -> [Int64] {
        var ids: [Int64] = []
        try forEachMatch(of: query, in: scope, on: connection, wantsSecrets: false) { row in
            if try isMeant(row) { ids.append(row.id) }
            return true
        }
        return ids
    }

    /// - Returns: false if the row's secret does not open: for callers the row does not exist.
    @discardableResult
    func update(
        _ id: Int64, as itemClass: ItemClass, _ changes: ItemChanges, on connection: StoreConnection
    ) throws -> Bool {
        guard let old = try openWhole(id, as: itemClass, on: connection) else { return false }
        try requireKeyStays(old.item, changes)
        let new = old.item.applying(changes, now: configuration.clock.now, expires: try changes.expires.flatMap(date))
        let (row, place) = try seal(new, version: old.version + 1)
        try makeRoom(for: new, at: place, replacing: id, on: connection)
        try connection.replace(id, with: row)
        return true
    }

    /// The item with its secret, or nil if it does not open.
    ///
    /// - Parameters:
    ///   - verdict: How much of the item is opened.
    ///   - evenExpired: Whether a hidden item is opened.
    package func openWhole(
        _ id: Int64, as itemClass: ItemClass, _ verdict: RowCipher.Verdict = .everything,
        evenExpired: Bool = false, on connection: StoreConnection
    ) throws -> OpenedRow? {
        try requireMemory(forRow: id, withSecret: true, on: connection)
        do {
            return try connection.withRow(id, secrets: true) { row in
                if !evenExpired && isExpired(row) { return nil }
                let opened = try cipher.open(row, as: itemClass) { _ in verdict }
                if case .everything = verdict, opened?.item.accessControl.isSealedWithApplicationPassword == true {
                    authentication.noteRightApplicationPassword()
                }
                return opened
            } ?? nil
        } catch let error as KeychainError where error.code == .decode {
            return nil
        }
    }
}

extension ItemOperations {
    /// The item in the way of another one, with its secret unless that needs authentication; nil if it opens as no
    /// class. Every class is tried, since no key vouches for the index or for the class that the row's home names.
    ///
    /// - Parameter isMeant: Whether the index should lead to the item.
    /// - Throws: `.notAvailable` if the index should lead to another item. Then the database is damaged, and no row is
    ///   deleted.
    func openRival(
        _ id: Int64, on connection: StoreConnection, _ isMeant: (Item) throws(KeychainError) -> Bool
    ) throws -> Item? {
        for itemClass in ItemClass.stored {
            guard let rival = try openWhole(id, as: itemClass, .everythingFree, on: connection)?.item else { continue }
            guard try isMeant(rival) else {
                throw KeychainError.damagedDatabase("its index leads to another item")
            }
            return rival
        }
        return nil
    }
}

extension Item {
    /// The modification date is always later than before: by a millisecond if the clock stood still, and by more if a
    /// date is so late that a millisecond makes no difference.
    ///
    /// - Parameter expires: The date that the changes ask for.
    fileprivate func applying(_ changes: ItemChanges, now: Double, expires: ExpiryDate?) -> Item {
        var item = self
        for (attribute, value) in changes.attributes.entries { item.attributes[attribute] = value }
        if let group = changes.accessGroup { item.accessGroup = group }
        if let synchronizable = changes.synchronizable { item.synchronizable = synchronizable }
        if let created = changes.created { item.created = created }
        item.modified = max(now, modified + 0.001, modified.nextUp)
        if let accessControl = changes.accessControl { item.accessControl = accessControl }
        if changes.expires != nil { item.expires = expires }
        if let secret = changes.secret { item.secret = secret }
        return item
    }
}
