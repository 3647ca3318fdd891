internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import Logging

/// Merges the items of an export into the store (docs/export-format.md, "Merging").
extension ItemOperations {
    /// Merges items, in their order, in one transaction.
    ///
    /// - Returns: the outcome for each item. A dry run returns the outcomes that an import would have.
    func merge(_ request: ImportRequest) throws -> [ImportOutcome] {
        do {
            // Batches share few pages of the index with each other, and all of them together touch the whole index.
            return try write(isLarge: true, forgetsPages: true) { connection in
                let outcomes = try request.items.map { try merge($0, request, on: connection) }
                if request.isDryRun { throw DryRun(outcomes: outcomes) }
                return outcomes
            }
        } catch let end as DryRun {
            return end.outcomes
        }
    }

    /// Ends the transaction of a dry run, which is rolled back.
    private struct DryRun: Error { let outcomes: [ImportOutcome] }

    private func merge(
        _ item: Item, _ request: ImportRequest, on connection: StoreConnection
    ) throws -> ImportOutcome {
        guard (request.isMove ? item.flawInMove : item.flaw) == nil else { return .refused }
        if let expires = item.expires, expires <= now { return .expired }
        var new = item
        new.attributes = item.attributes.withUniquenessDefaults(of: item.itemClass)
        let place = try Placement(new, keys: keys)
        let rivals = try rivals(of: new, place, on: connection)
        switch try winner(new, rivals, isMove: request.isMove) {
        case .incoming: break
        case .both: return .unchanged
        case .present: return .kept
        }
        var former: Rival?
        for rival in rivals {
            if rival.item == nil && !request.isDryRun {
                logger.warning(
                    "a stored item that does not open gives way to an imported one", metadata: ["row": "\(rival.id)"])
            }
            if rival.uuid == new.identifier { former = rival } else { try connection.delete(rival.id) }
        }
        if let former {
            // Halves of the old row must not fit those of the new version.
            let version = former.version < .max ? former.version + 1 : .max
            try connection.replace(former.id, with: try seal(new, version: version, at: place))
        } else {
            try connection.insert(try seal(new, version: 1, at: place))
        }
        return rivals.isEmpty ? .added : .replaced
    }

    /// Deletes items that another host has now.
    ///
    /// - Returns: false if one of them is another by now, or gone. Then nothing was deleted.
    func remove(moved items: [ItemVersion]) throws -> Bool {
        try write(onlyRemoves: true) { connection in
            let rows = try items.compactMap { version -> Int64? in
                guard let id = try connection.item(withUUID: version.identifier),
                    let home = try connection.withRow(id, { $0.home }), let kind = try connection.kind(ofHome: home),
                    let row = try connection.withRow(id, { try cipher.open($0, as: kind.itemClass) { _ in .metadata } })
                        ?? nil, ItemVersion(row.item) == version
                else { return nil }
                return id
            }
            guard rows.count == items.count else { return false }
            for row in Set(rows) { try connection.delete(row) }
            return true
        }
    }

    // MARK: Rivals

    /// A row that cannot stay beside the imported item.
    private struct Rival {
        var id: Int64
        var uuid: UUID?
        var version: Int64
        /// nil if the row does not open.
        var item: Item?
    }

    /// The rows with the same unique attributes, under any key, or the same persistent reference.
    ///
    /// - Throws: `.interactionNotAllowed` if such a row is locked, or an item that cannot be read may be one.
    private func rivals(
        of new: Item, _ place: Placement, on connection: StoreConnection
    ) throws -> [Rival] {
        try requireCertainty(place, new.itemClass, on: connection)
        var ids: Set<Int64> = []
        if let id = try connection.item(withUUID: new.identifier) { ids.insert(id) }
        for token in place.rivals {
            guard let id = try connection.item(withUniqueness: token), !ids.contains(id) else { continue }
            if try connection.withRow(id, isExpired) == true {
                try connection.giveUpName(id)
            } else {
                ids.insert(id)
            }
        }
        return try ids.sorted().compactMap { id in
            try rival(id, on: connection) { item throws(KeychainError) in
                if item.identifier == new.identifier { return true }
                for token in place.rivals where try hasUniqueness(token, item) { return true }
                return false
            }
        }
    }

    private func rival(
        _ id: Int64, on connection: StoreConnection, _ isMeant: (Item) throws(KeychainError) -> Bool
    ) throws -> Rival? {
        guard let row = try connection.withRow(id, { (uuid: $0.uuid, version: $0.version) }) else { return nil }
        let item = try openRival(id, on: connection, isMeant)
        return Rival(id: id, uuid: row.uuid, version: row.version, item: item)
    }

    // MARK: Which one stays

    private enum Winner { case incoming, present, both }

    /// The newer item wins; of two from the same moment, the one with the smaller digest, on whichever side it is. In a
    /// move it is the present one: it is the same, perhaps in the group that it had before an earlier move.
    private func winner(_ new: Item, _ rivals: [Rival], isMove: Bool) throws(KeychainError) -> Winner {
        for rival in rivals.compactMap(\.item) {
            if new.modified > rival.modified { continue }
            if new.modified < rival.modified { return .present }
            let digests = (try ExportedItem.digest(of: new), try ExportedItem.digest(of: rival))
            if digests.0 == digests.1 { return .both }
            if isMove || !digests.0.lexicographicallyPrecedes(digests.1) { return .present }
        }
        return .incoming
    }
}
