internal import KeychainCrypto
internal import KeychainModel

extension ItemOperations {
    /// Deletes every item that the query means. A constrained item needs no consent for that, unless its access control
    /// says so, and a locked one no unlocking, as on Apple's systems.
    ///
    /// - Returns: how many there were.
    func delete(_ query: ItemQuery, from caller: Caller) throws -> Int {
        if query.itemClass == .identity { return try deleteIdentities(query, from: caller) }
        let scope = try AccessPolicy(caller: caller).scopeForWriting(query.accessGroup)
        return try write(onlyRemoves: true) { connection in
            let ids = try rowsToDelete(query, in: scope, on: connection)
            guard !ids.isEmpty else { throw KeychainError(notFound: query) }
            for id in ids { try connection.delete(id) }
            return ids.count
        }
    }

    /// The rows that a query means, the locked ones among them by what the index says.
    ///
    /// - Throws: `.interactionNotAllowed` if the query asks about a locked row what only the row itself tells.
    private func rowsToDelete(
        _ query: ItemQuery, in scope: GroupScope, on connection: StoreConnection
    ) throws -> [Int64] {
        let matcher = ItemMatcher(query: query, scope: scope)
        var ids: [Int64] = []
        try forEachCandidate(of: query, in: scope, on: connection) { row throws(KeychainError) -> Int64? in
            let item: OpenedRow?
            do throws(KeychainError) {
                item = try open(row, as: query.itemClass, matching: matcher, wantsSecret: false)
            } catch  where error.code == .interactionNotAllowed && matcher.isDecidedByIndex {
                // Its group and attributes are what the index says they are. Who would have to be asked is not asked
                // while it is locked.
                guard try !AccessControl(canonicalBytes: row.access).constrainsDeletion else { throw error }
                return row.id
            }
            guard let item, try mayDelete(item, query.authenticationUI) else { return nil }
            return item.id
        } _: { id in
            ids.append(id)
            return true
        }
        return ids
    }

    /// - Returns: false if the query leaves out what asks for authentication, and deleting the row does.
    /// - Throws: as ``Authentication/judge(_:_:_:hasPasscode:)``.
    func mayDelete(_ row: OpenedRow, _ ui: ItemQuery.AuthenticationUI) throws(KeychainError) -> Bool {
        let verdict = try authentication.judge(row.accessControl, .delete, ui, hasPasscode: hasPasscode)
        if case .granted = verdict { return true }
        return false
    }

    /// Deletes what is of no use without the passcode, which is not set any more.
    func deleteUnreachable() throws {
        try write { connection in
            for id in try connection.items(where: { $0.needsPasscode }) {
                if try connection.withRow(id, { try isDestroyed($0) }) == true { try connection.delete(id) }
            }
        }
    }

    /// Whether a row can be of no use to anybody any more: it needs the passcode, which was removed, or its key was
    /// destroyed by that or by an erasure.
    ///
    /// The row's access control is not taken at its word. Where there is a key for it, the row has to open under it. Where
    /// there is none, it must not open either under a key that there is, with one byte of its access control changed.
    func isDestroyed(_ row: StoredRow) throws(KeychainError) -> Bool {
        // The first passcode begins the second generation of keys: no key of the first was ever destroyed.
        guard row.generation > 1 else { return false }
        guard let control = row.accessControl, keys.snapshot.generations.contains(row.generation) else { return false }
        if keys.exists(control.protection, generation: row.generation) {
            guard control.needsPasscode && keys.snapshot.bag.passcode == nil else { return false }
            return try cipher.keyOpens(row, control, generation: row.generation)
        }
        let controls = [control] + control.oneByteApart
        for generation in keys.snapshot.generations {
            for control in controls where try cipher.keyOpens(row, control, generation: generation) { return false }
        }
        return true
    }
}
