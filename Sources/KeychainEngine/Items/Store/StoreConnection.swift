internal import Foundation
internal import KeychainCrypto
internal import KeychainModel

/// One connection within one transaction: what the statements of the store are run through.
struct StoreConnection {
    private let source: any StatementSource
    let store: ItemStore
    /// The highest id of a home in the snapshot that is read; nil in a write.
    private let highestHomeID: Int64?

    init(_ source: any StatementSource, store: ItemStore, highestHomeID: Int64? = nil) {
        self.source = source
        self.store = store
        self.highestHomeID = highestHomeID
    }

    private func statement(_ statement: StoreStatement) throws -> RawStatement { try source.statement(statement) }
}

// MARK: - Searching

extension StoreConnection {
    /// The first item at or after `id` that has an entry for the token.
    func firstItem(with token: IndexToken, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByEntry)
        try statement.bind(token, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number()
    }

    /// The first item at or after `id` that lives in the home.
    func firstItem(inHome home: Int64, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByHome)
        try statement.bind(home, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number()
    }

    func item(withUUID identifier: UUID) throws -> Int64? {
        let statement = try statement(.itemByUUID)
        try statement.bind(identifier, at: 1)
        return try statement.number()
    }

    func item(withUniqueness token: IndexToken) throws -> Int64? {
        let statement = try statement(.itemByUniqueness)
        try statement.bind(token, at: 1)
        return try statement.number()
    }

    /// Calls `body` with the row of an item, if it is there. The row's bytes are valid only within.
    func withRow<R>(_ id: Int64, _ body: (StoredRow) throws -> R) throws -> R? {
        let statement = try statement(.row)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return try body(StoredRow(id: id, statement: statement))
    }
}

// MARK: - Taking stock

extension StoreConnection {
    func nextItem(from id: Int64) throws -> Int64? {
        let statement = try statement(.nextItem)
        try statement.bind(id, at: 1)
        return try statement.number()
    }

    func itemCounts() throws -> [ItemClass: Int] {
        let statement = try statement(.itemCounts)
        defer { statement.reset() }
        var counts: [ItemClass: Int] = [:]
        while try statement.step() {
            guard let itemClass = UInt8(exactly: statement.integer(0)).flatMap(ItemClass.init(number:)) else {
                continue
            }
            counts[itemClass] = Int(statement.integer(1))
        }
        return counts
    }

    /// How many entries lead to no row.
    func strayEntryCount() throws -> Int {
        Int(
            try statement(.strayEntries).number() ?? 0)
    }
}

// MARK: - Homes

extension StoreConnection {
    /// The homes of a class and tier that a search may look through.
    func homes(
        of itemClass: ItemClass, tier: IndexTier, in scope: GroupScope, synchronizable: ItemQuery.Synchronizable,
        _ indexer: Indexer
    ) throws -> [Int64] {
        guard case .some(let groups) = scope else { return try homes(of: itemClass, tier: tier) }
        var homes: [Int64] = []
        for group in groups {
            for synchronizable in synchronizable.values {
                let home = Home(
                    itemClass: itemClass, tier: tier, accessGroup: group, synchronizable: synchronizable)
                if let id = try self.home(home, indexer) { homes.append(id) }
            }
        }
        return homes
    }

    private func home(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        // A write may see homes that its own roll-back takes away, so it neither asks nor fills the cache.
        guard let highestHomeID else { return try findHome(home, indexer) }
        switch store.homes.lookUp(home, highestID: highestHomeID) {
        case .found(let id): return id
        case .absent: return nil
        case .unknown:
            let id = try findHome(home, indexer)
            store.homes.remember(id, for: home, highestID: highestHomeID)
            return id
        }
    }

    func findHome(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        let statement = try statement(.homeByToken)
        try statement.bind(indexer.token(of: home), at: 1)
        return try statement.number()
    }

    /// The class and tier of a home.
    func kind(ofHome id: Int64) throws -> (itemClass: ItemClass, tier: IndexTier)? {
        let statement = try statement(.homeKind)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        guard try statement.step(),
            let itemClass = UInt8(exactly: statement.integer(0)).flatMap(ItemClass.init(number:)),
            let tier = UInt8(exactly: statement.integer(1)).flatMap(IndexTier.init(rawValue:))
        else { return nil }
        return (itemClass, tier)
    }

    /// Every home of a class and tier, whatever its group and synchronizability.
    private func homes(of itemClass: ItemClass, tier: IndexTier) throws -> [Int64] {
        let statement = try statement(.homesByKind)
        try statement.bind(Int64(itemClass.number), at: 1)
        try statement.bind(Int64(tier.rawValue), at: 2)
        defer { statement.reset() }
        var homes: [Int64] = []
        while try statement.step() { homes.append(statement.integer(0)) }
        return homes
    }

    /// The home's row, made if it is the first item of its kind.
    func makeHome(_ home: Home, _ indexer: Indexer) throws -> Int64 {
        if let id = try findHome(home, indexer) { return id }
        let statement = try statement(.insertHome)
        try statement.bind(Int64(home.itemClass.number), at: 1)
        try statement.bind(Int64(home.tier.rawValue), at: 2)
        try statement.bind(indexer.token(of: home), at: 3)
        return try statement.inserted()
    }
}

extension Indexer {
    fileprivate func token(of home: Home) -> IndexToken {
        homeToken(
            itemClass: home.itemClass, accessGroup: home.accessGroup, synchronizable: home.synchronizable)
    }
}

extension ItemQuery.Synchronizable {
    fileprivate var values: [Bool] {
        switch self {
        case .no: [false]
        case .yes: [true]
        case .any: [false, true]
        }
    }
}

// MARK: - Writing

extension StoreConnection {
    func insert(_ row: SealedRow) throws {
        let statement = try statement(.insertItem)
        try statement.bind(row.uuid, at: 1)
        try bind(row, to: statement, from: 2)
        try insertEntries(row.tokens, for: try statement.inserted())
    }

    /// Replaces everything of an item but its id and uuid.
    func replace(_ id: Int64, with row: SealedRow) throws {
        try deleteEntries(of: id)
        let statement = try statement(.updateItem)
        let next = try bind(row, to: statement, from: 1)
        try statement.bind(id, at: next)
        try statement.run()
        try insertEntries(row.tokens, for: id)
    }

    func delete(_ id: Int64) throws {
        try deleteEntries(of: id)
        let statement = try statement(.deleteItem)
        try statement.bind(id, at: 1)
        try statement.run()
    }

    @discardableResult
    private func bind(_ row: SealedRow, to statement: RawStatement, from first: Int32) throws -> Int32 {
        try statement.bind(row.home, at: first)
        try statement.bind(row.version, at: first + 1)
        try statement.bind(row.uniqueness, at: first + 2)
        try statement.bind(Data(row.accessControl.canonicalBytes), at: first + 3)
        try statement.bind(row.tokens.joinedBytes, at: first + 4)
        try statement.bind(row.metadata.wrappedKey, at: first + 5)
        try statement.bind(row.metadata.box, at: first + 6)
        try statement.bind(row.secret?.wrappedKey, at: first + 7)
        try statement.bind(row.secret?.box, at: first + 8)
        return first + 9
    }

    private func insertEntries(_ tokens: [IndexToken], for id: Int64) throws {
        let statement = try statement(.insertEntry)
        for token in tokens {
            try statement.bind(token, at: 1)
            try statement.bind(id, at: 2)
            try statement.run()
        }
    }

    /// Removes an item's entries by the list its row keeps, so that no key is needed.
    private func deleteEntries(of id: Int64) throws {
        let tokens = try withRow(id) { [IndexToken](joinedBytes: $0.tokens) } ?? []
        let statement = try statement(.deleteEntry)
        for token in tokens {
            try statement.bind(token, at: 1)
            try statement.bind(id, at: 2)
            try statement.run()
        }
    }
}

extension [IndexToken] {
    fileprivate var joinedBytes: Data {
        reduce(into: Data(capacity: count * IndexToken.byteCount)) { data, token in
            token.withUnsafeBytes { data.append(contentsOf: $0) }
        }
    }

    /// A rest that is no whole token is left out.
    init(joinedBytes bytes: UnsafeRawBufferPointer) {
        self = stride(from: 0, through: bytes.count - IndexToken.byteCount, by: IndexToken.byteCount).compactMap {
            IndexToken(bytes: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + IndexToken.byteCount]))
        }
    }
}
