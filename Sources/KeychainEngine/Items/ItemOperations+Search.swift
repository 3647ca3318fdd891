internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import Logging

extension ItemOperations {
    /// Calls `body` with each item that a query means, until it returns false.
    ///
    /// A row that does not open is left out, as Apple's keychain does, but it is kept: `keychainctl doctor` reports it.
    func forEachMatch(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection, wantsSecrets: Bool,
        _ body: (OpenedRow) throws -> Bool
    ) throws {
        let matcher = ItemMatcher(query: query, scope: scope)
        try forEachCandidate(
            of: query, in: scope, on: connection, wantsSecrets: wantsSecrets,
            open: { try open($0, as: query.itemClass, matching: matcher, wantsSecret: wantsSecrets) }, body)
    }

    func open(
        _ row: StoredRow, as itemClass: ItemClass, matching matcher: ItemMatcher, wantsSecret: Bool
    ) throws(KeychainError) -> OpenedRow? {
        // A row that names another protection needs no key, and does not refuse the answer if it is locked.
        guard matcher.mayMean(rowWith: row.access) else { return nil }
        do throws(KeychainError) {
            return try cipher.open(row, as: itemClass) { item in
                guard matcher.matches(item) else { return .nothing }
                // A constrained item is refused before its secret is unwrapped.
                return wantsSecret && !item.accessControl.isConstrained && !item.isKeptInEngine
                    ? .everything : .metadata
            }
        } catch  where error.code == .decode {
            logger.warning("a stored item does not open and is left out", metadata: ["row": "\(row.id)"])
            return nil
        }
    }

    // MARK: Candidates

    /// Calls `body` with the result of `open` for each row that the query may mean, until it returns false.
    ///
    /// - Throws: `.interactionNotAllowed` if `body` wants more, and the query may mean rows that cannot be searched,
    ///   because the store was not unlocked since the system started.
    func forEachCandidate<T>(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection,
        wantsSecrets: Bool = false, open: (StoredRow) throws -> T?, _ body: (T) throws -> Bool
    ) throws {
        try forEachSearch(of: query, in: scope, on: connection, wantsSecrets: wantsSecrets) { search in
            try query.persistentReference.map { reference in
                try forOneRow(with: reference.identifier, search, open: open, body)
            } ?? forEachRow(of: search, open: open, body)
        }
    }

    /// Calls `body` with each part of the index in which the query's rows may be listed, until it returns false.
    ///
    /// - Throws: as ``forEachCandidate(of:in:on:wantsSecrets:open:_:)``.
    func forEachSearch(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection, wantsSecrets: Bool,
        _ body: (CandidateSearch) throws -> Bool
    ) throws {
        var isUncertain = false
        for tier in query.tiers {
            guard let indexers = try keys.indexers(for: tier) else {
                isUncertain = true
                continue
            }
            // While keys are being renewed a row is listed under the older or under the newer ones.
            for (generation, indexer) in indexers {
                let homes = try connection.homes(
                    of: query.itemClass, tier: tier, generation: generation, in: scope,
                    synchronizable: query.synchronizable, indexer)
                if homes.isEmpty { continue }
                let search = CandidateSearch(
                    connection: connection, homes: homes, tokens: indexer.tokens(of: query),
                    wantsSecrets: wantsSecrets)
                if try !body(search) { return }
            }
        }
        if isUncertain, try mayBeOutOfReach(query, on: connection) { throw keys.lockedError(.afterFirstUnlock) }
    }

    /// Whether the query may mean a row that cannot be searched. Every row of the class counts, since the attributes of
    /// such rows are hidden.
    private func mayBeOutOfReach(_ query: ItemQuery, on connection: StoreConnection) throws -> Bool {
        guard let reference = query.persistentReference else {
            return try connection.hasItems(of: query.itemClass, tier: .afterFirstUnlock, besides: isExpired)
        }
        guard let id = try connection.item(withUUID: reference.identifier),
            let home = try connection.withRow(id, { isExpired($0) ? nil : $0.home }) ?? nil,
            let kind = try connection.kind(ofHome: home)
        else { return false }
        return kind.itemClass == query.itemClass && kind.tier == .afterFirstUnlock
    }

    /// - Returns: false if `body` ended the search.
    private func forOneRow<T>(
        with identifier: UUID, _ search: CandidateSearch, open: (StoredRow) throws -> T?, _ body: (T) throws -> Bool
    ) throws -> Bool {
        guard let id = try search.connection.item(withUUID: identifier) else { return true }
        try requireMemory(forRow: id, withSecret: search.wantsSecrets, on: search.connection)
        let item =
            try search.connection.withRow(id, secrets: search.wantsSecrets) { row in
                search.homes.contains(row.home) && search.isListed(row) && !isExpired(row) ? try open(row) : nil
            } ?? nil
        return try item.map(body) ?? true
    }

    /// - Returns: false if `body` ended the search.
    private func forEachRow<T>(
        of search: CandidateSearch, open: (StoredRow) throws -> T?, _ body: (T) throws -> Bool
    ) throws -> Bool {
        try forEachRowID(of: search) { id in
            try requireMemory(forRow: id, withSecret: search.wantsSecrets, on: search.connection)
            var isElsewhere = false
            let item =
                try search.connection.withRow(id, secrets: search.wantsSecrets) { row in
                    isElsewhere = !search.homes.contains(row.home)
                    return isElsewhere || isExpired(row) ? nil : try open(row)
                } ?? nil
            // The row's statement is done, so `body` may search in turn.
            if let item, try !body(item) { return .end }
            return isElsewhere ? .isElsewhere : .goOn
        }
    }

    /// The step after a row of a search.
    enum NextRow { case goOn, isElsewhere, end }

    /// - Returns: false if `body` ended the search.
    func forEachRowID(of search: CandidateSearch, _ body: (Int64) throws -> NextRow) throws -> Bool {
        var next = try search.next(from: 1)
        var count = 0
        while let id = next {
            let step = try body(id)
            if step == .end { return false }
            // Only an edited index has this id, and the next number would overflow.
            guard id < .max else { return true }
            count += 1
            if count % Self.rowsBetweenLooks == 0 { try keys.requireWithinGrace() }
            next = step == .isElsewhere ? try search.next(inHomesFrom: id + 1) : try search.next(from: id + 1)
        }
        return true
    }

    /// The number of rows after which a long call checks the lock: well under a millisecond of work.
    private static let rowsBetweenLooks = 64
}

extension ItemQuery {
    /// The index tiers in which an item of the query can be.
    fileprivate var tiers: [IndexTier] { protection.map { [$0.indexTier] } ?? IndexTier.allCases }
}

extension Indexer {
    /// The entries that every item of the query has, in the order of the class's table.
    fileprivate func tokens(of query: ItemQuery) -> [IndexToken] {
        if query.attributes.isEmpty { return [] }
        return AttributeTable.table(for: query.itemClass).rules.compactMap { rule in
            guard rule.isIndexed, let value = query.attributes[rule.attribute] else { return nil }
            return token(for: rule.attribute, of: query.itemClass, value: value)
        }
    }

    /// The entries of an item.
    func tokens(of itemClass: ItemClass, attributes: AttributeSet) -> [IndexToken] {
        attributes.entries.compactMap { entry in
            guard AttributeTable.table(for: itemClass)[entry.attribute]?.isIndexed == true else { return nil }
            return token(for: entry.attribute, of: itemClass, value: entry.value)
        }
    }
}
