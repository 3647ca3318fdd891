internal import KeychainModel

extension ItemOperations {
    /// Deletes every item that the query means. A constrained item needs no consent for that, and a locked one no
    /// unlocking, as on Apple's systems.
    func delete(_ query: ItemQuery, from caller: Caller) throws {
        if query.itemClass == .identity { return try deleteIdentities(query, from: caller) }
        let scope = try AccessPolicy(caller: caller).scopeForWriting(query.accessGroup)
        try write { connection in
            let ids = try rowsToDelete(query, in: scope, on: connection)
            guard !ids.isEmpty else { throw KeychainError(notFound: query) }
            for id in ids { try connection.delete(id) }
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
            do throws(KeychainError) {
                return try open(row, as: query.itemClass, matching: matcher, wantsSecret: false)?.id
            } catch  where error.code == .interactionNotAllowed && matcher.isDecidedByIndex {
                // Its group and attributes are what the index says they are.
                return row.id
            }
        } _: { id in
            ids.append(id)
            return true
        }
        return ids
    }

    /// Deletes what only a passcode that is no longer set could open.
    func deleteUnreachable() throws {
        try write { connection in
            for id in try connection.items(ofProtection: .whenPasscodeSetThisDeviceOnly) {
                try connection.delete(id)
            }
        }
    }
}
