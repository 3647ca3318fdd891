internal import Foundation
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
            let count = try delete(query, in: scope, on: connection)
            guard count > 0 else { throw KeychainError(notFound: query) }
            return count
        }
    }

    /// - Returns: how many there were.
    func delete(_ query: ItemQuery, in scope: GroupScope, on connection: StoreConnection) throws -> Int {
        let ids = try rowsToDelete(query, in: scope, on: connection)
        for id in ids { try connection.delete(id) }
        return ids.count
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
            let opened: OpenedRow?
            do throws(KeychainError) {
                opened = try open(row, as: query.itemClass, matching: matcher, wantsSecret: false)
            } catch  where error.code == .interactionNotAllowed && matcher.isDecidedByIndex {
                // Its group and attributes are what the index says they are. Who would have to be asked is not asked
                // while it is locked.
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

    /// - Returns: false if the query leaves out what asks for authentication, and deleting the row does.
    /// - Throws: as ``Authentication/judge(_:_:_:hasPasscode:)``.
    func mayDelete(_ item: Item, _ ui: ItemQuery.AuthenticationUI) throws(KeychainError) -> Bool {
        let verdict = try authentication.judge(item.accessControl, .delete, ui, hasPasscode: hasPasscode)
        if case .granted = verdict { return true }
        return false
    }

    /// Writes down the items that nothing opens once the passcode is removed. They are opened for that: what a row says of
    /// itself may be damaged.
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

    /// Whether there are items that may be such.
    func hasItemsOfPasscode() throws -> Bool {
        try read { try !$0.items { $0.protection == .whenPasscodeSetThisDeviceOnly }.isEmpty }
    }

    /// Deletes what is of no use without the passcode, which is not set any more.
    func deleteUnreachable() throws {
        try write { connection in
            let removal = try connection.removal()
            for id in try connection.items(where: { $0.needsPasscode }) {
                if try connection.withRow(id, { try isDestroyed($0, removal) }) == true { try connection.delete(id) }
            }
            try connection.forgetRemoval()
        }
    }

    /// Whether a row can be of no use to anybody any more: it needs the passcode, which was removed, or its key was
    /// destroyed by that or by an erasure.
    ///
    /// The row's access control is not taken at its word. Where there is a key for it, the row has to open under it. Where
    /// there is none, it was opened before the removal, or all keys behind the passcode were erased; and it must not open
    /// under a key that there is, with one byte of its access control changed.
    ///
    /// - Parameter removal: What was opened before the passcode was removed.
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
