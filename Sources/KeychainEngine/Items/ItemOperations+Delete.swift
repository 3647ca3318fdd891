internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

extension ItemOperations {
    /// Deletes every item that the query means. As on Apple's systems, a constrained item needs no consent for that,
    /// unless its access control says so, and a locked item needs no unlocking.
    ///
    /// - Returns: the number of deleted items.
    func delete(_ query: ItemQuery, from caller: Caller) throws -> Int {
        if query.itemClass == .identity { return try deleteIdentities(query, from: caller) }
        let scope = try AccessPolicy(caller: caller).scopeForWriting(query.accessGroup)
        return try write(onlyRemoves: true) { connection in
            let count = try delete(query, in: scope, on: connection)
            guard count > 0 else { throw KeychainError(notFound: query) }
            return count
        }
    }

    /// - Returns: the number of deleted items.
    func delete(_ query: ItemQuery, in scope: GroupScope, on connection: StoreConnection) throws -> Int {
        let ids = try rowsToDelete(query, in: scope, on: connection)
        for id in ids { try connection.delete(id) }
        return ids.count
    }

    /// The rows that a query means. The index decides about locked rows.
    ///
    /// - Throws: `.interactionNotAllowed` if the query asks about a locked row and only the sealed row has the answer.
    private func rowsToDelete(
        _ query: ItemQuery, in scope: GroupScope, on connection: StoreConnection
    ) throws -> [Int64] {
        let matcher = ItemMatcher(query: query, scope: scope)
        var ids: [Int64] = []
        try forEachCandidate(of: query, in: scope, on: connection) { row throws(KeychainError) -> Int64? in
            let opened: OpenedRow?
            do throws(KeychainError) {
                opened = try open(row, as: query.itemClass, matching: matcher, wantsSecret: false)
            } catch  where error.code == .interactionNotAllowed && matcher.isDecidedByIndex {
                // The index tells the row's group and attributes. Consent cannot be asked for while the row is locked.
                guard try !AccessControl(canonicalBytes: row.access).constrainsDeletion else { throw error }
                return row.id
            }
            guard let opened, try mayDelete(opened.item, query.authenticationUI) else { return nil }
            return opened.id
        } _: { id in
            ids.append(id)
            return true
        }
        return ids
    }

    /// - Returns: false if deleting the row needs authentication and the query leaves out such rows.
    /// - Throws: as ``Authentication/permits(_:_:_:hasPasscode:)``.
    func mayDelete(_ item: Item, _ ui: ItemQuery.AuthenticationUI) throws(KeychainError) -> Bool {
        try authentication.permits(item.accessControl, .delete, ui, hasPasscode: hasPasscode)
    }

    /// Records the items that nothing opens once the passcode is removed. Each item is opened for that, since the row's
    /// own statements may be damaged.
    func noteRemoval() throws {
        try write { connection in
            let going = try connection.items { $0.protection == .whenPasscodeSetThisDeviceOnly }.compactMap { id in
                try connection.withRow(id) { row -> UUID? in
                    guard let control = row.accessControl,
                        try cipher.keyOpens(row, control, generation: row.generation)
                    else { return nil }
                    return row.uuid
                } ?? nil
            }
            try connection.setRemoval(going)
        }
    }

    /// Whether the store may have items that need the passcode.
    func hasItemsOfPasscode() throws -> Bool {
        try read { try !$0.items { $0.protection == .whenPasscodeSetThisDeviceOnly }.isEmpty }
    }

    /// Deletes the items that the removal of the passcode has made useless.
    func deleteUnreachable() throws {
        try write { connection in
            let removal = try connection.removal()
            for id in try connection.items(where: { $0.needsPasscode }) {
                if try connection.withRow(id, { try isDestroyed($0, removal) }) == true { try connection.delete(id) }
            }
            try connection.forgetRemoval()
        }
    }

    /// Whether a row has become useless: it needs the passcode, which was removed, or its key was destroyed by that or
    /// by an erasure.
    ///
    /// The row's access control is not believed. If the access control's key exists, the row has to open under it. If
    /// the key does not exist, the row was opened before the removal, or all keys behind the passcode were erased; and
    /// the row must not open under an existing key with one byte of its access control changed.
    ///
    /// - Parameter removal: The items that were opened before the passcode was removed.
    func isDestroyed(_ row: StoredRow, _ removal: Set<UUID> = []) throws(KeychainError) -> Bool {
        guard let control = row.accessControl, keys.snapshot.generations.contains(row.generation) else { return false }
        if keys.exists(control.protection, generation: row.generation) {
            guard control.needsPasscode && keys.snapshot.bag.passcode == nil else { return false }
            return try cipher.keyOpens(row, control, generation: row.generation)
        }
        let wasErased = !keys.exists(.whenUnlocked, generation: row.generation)
        guard wasErased || row.uuid.map(removal.contains) == true else { return false }
        let controls = [control] + control.oneByteApart
        for generation in keys.snapshot.generations {
            for control in controls where try cipher.keyOpens(row, control, generation: generation) { return false }
        }
        return true
    }
}
