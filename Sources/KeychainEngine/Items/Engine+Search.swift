internal import Foundation
internal import KeychainCrypto
internal import KeychainModel
internal import Logging

extension Engine {
    var cipher: RowCipher {
        RowCipher(keys: keys, storeID: store.storeID, randomness: configuration.randomness)
    }

    /// Calls `body` with each item that a query means, until it returns false.
    ///
    /// A row that does not open is left out, as Apple's keychain does, but it is kept: `keychain doctor` reports it.
    func forEachMatch(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection, wantsSecrets: Bool,
        _ body: (OpenedRow) throws -> Bool
    ) throws {
        let matcher = ItemMatcher(query: query, scope: scope)
        try forEachCandidate(
            of: query, in: scope, on: connection,
            open: { try open($0, as: query.itemClass, matching: matcher, wantsSecret: wantsSecrets) }, body)
    }

    private func open(
        _ row: StoredRow, as itemClass: ItemClass, matching matcher: ItemMatcher, wantsSecret: Bool
    ) throws(KeychainError) -> OpenedRow? {
        do throws(KeychainError) {
            return try cipher.open(row, as: itemClass) { item in
                guard matcher.matches(item) else { return .nothing }
                // A constrained item is refused before its secret is ever unwrapped.
                return wantsSecret && !item.accessControl.isConstrained ? .everything : .metadata
            }
        } catch  where error.code == .decode {
            logger.warning("a stored item does not open and is left out", metadata: ["row": "\(row.id)"])
            return nil
        }
    }

    // MARK: Candidates

    private func forEachCandidate(
        of query: ItemQuery, in scope: GroupScope, on connection: StoreConnection,
        open: (StoredRow) throws -> OpenedRow?, _ body: (OpenedRow) throws -> Bool
    ) throws {
        for tier in query.tiers {
            let indexer = try keys.indexer(for: tier)
            let homes = try connection.homes(
                of: query.itemClass, tier: tier, in: scope, synchronizable: query.synchronizable, indexer)
            if homes.isEmpty { continue }
            if let reference = query.persistentReference {
                guard let id = try connection.item(withUUID: reference.identifier) else { return }
                let item = try connection.withRow(id) { homes.contains($0.home) ? try open($0) : nil } ?? nil
                if let item, try !body(item) { return }
            } else {
                let search = CandidateSearch(
                    connection: connection, homes: homes, tokens: indexer.tokens(of: query))
                guard try forEachRow(of: search, open: open, body) else { return }
            }
        }
    }

    /// - Returns: false if `body` wants no more.
    private func forEachRow(
        of search: CandidateSearch, open: (StoredRow) throws -> OpenedRow?, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        var next = try search.next(from: 1)
        while let id = next {
            var isElsewhere = false
            let item =
                try search.connection.withRow(id) { row in
                    isElsewhere = !search.homes.contains(row.home)
                    return isElsewhere ? nil : try open(row)
                } ?? nil
            // Called when the row's statement is done with, so that `body` may search in turn.
            if let item, try !body(item) { return false }
            // Only an edited index leads here; one more would be no number.
            guard id < .max else { return true }
            next = isElsewhere ? try search.next(inHomesFrom: id + 1) : try search.next(from: id + 1)
        }
        return true
    }
}

extension ItemQuery {
    /// The index tiers in which an item that the query means can be.
    fileprivate var tiers: [IndexTier] { protection.map { [$0.indexTier] } ?? IndexTier.allCases }
}

extension Indexer {
    /// The entries that every item the query means has, in the order of the class's table.
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
