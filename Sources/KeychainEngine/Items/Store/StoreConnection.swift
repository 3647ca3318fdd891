package import Foundation
package import KeychainCrypto
internal import KeychainModel

/// The home with the highest id: all others are older.
struct NewestHome {
    var id: Int64 = 0
    var generation: UInt32 = 0
}

/// What a home is for, without the group and synchronizability that its token hides.
struct HomeKind {
    var itemClass: ItemClass
    var tier: IndexTier
    var generation: UInt32
}

/// A connection to the database of a store, and the statements that are run on its tables, each prepared once.
package final class StoreConnection: @unchecked Sendable {  // the store gives it to one thread at a time
    let database: SQLiteConnection
    /// By the statement's number. Plain memory, since looking one up is done many times in a look-up.
    private let statements = UnsafeMutableBufferPointer<SQLiteStatement?>.allocate(
        capacity: StoreStatement.allCases.count)
    private let homes = HomeCache()
    /// Of the snapshot that is read; nil in a write.
    private var newestHome: NewestHome?
    /// The pages of a row that is larger than this are not read again soon, and crowd out those of the index.
    private static let mostKeptBytes = 256 << 10
    private var hasWrittenLargeRow = false

    init(_ database: SQLiteConnection) {
        self.database = database
        statements.initialize(repeating: nil)
    }

    deinit {
        for case let statement? in statements { statement.finalize() }
        statements.deallocate()
    }

    /// - Throws: `.internalFailure` if the statement is at a row for somebody else: what that one has read of it would be
    ///   gone, and would be read all the same.
    func statement(_ statement: StoreStatement) throws(KeychainError) -> SQLiteStatement {
        if let prepared = statements[statement.rawValue] {
            guard !prepared.isAtRow else {
                throw KeychainError(.internalFailure, message: "the statement '\(statement)' is used within itself")
            }
            return prepared
        }
        let prepared = try database.prepare(statement.sql)
        statements[statement.rawValue] = prepared
        return prepared
    }

    /// Runs `body` on one snapshot.
    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        // A snapshot begins with the first step of a statement and lasts until it is reset: this one is needed anyhow, and
        // spares a BEGIN and a COMMIT.
        let anchor = try statement(.newestHome)
        defer { anchor.reset() }
        var newest = NewestHome()
        if try anchor.step() {
            newest = NewestHome(id: anchor.integer(0), generation: UInt32(exactly: anchor.integer(1)) ?? .max)
        }
        newestHome = newest
        return try body(self)
    }

    /// No row of the snapshot is listed under newer keys.
    var newestHomeGeneration: UInt32 { newestHome?.generation ?? 0 }

    /// Runs `body` in a transaction, beside which no other connection writes, and commits. If either fails, nothing is
    /// changed.
    func transaction<R>(_ body: () throws -> R) throws -> R {
        try statement(.begin).run()
        do {
            let result = try body()
            try requireTransaction()
            try statement(.commit).run()
            return result
        } catch {
            // SQLite ends a transaction by itself after some errors. The error at hand is the one that counts.
            if database.isInTransaction { try? database.run("ROLLBACK") }
            throw error
        }
    }

    /// Gives back the memory that the pages of large rows take.
    func forgetLargeRows() {
        if hasWrittenLargeRow { database.releaseMemory() }
        hasWrittenLargeRow = false
    }

    /// A statement outside of a transaction would be one of its own.
    func requireTransaction() throws(KeychainError) {
        guard database.isInTransaction else { throw .abortedTransaction }
    }
}

// MARK: - Searching

extension StoreConnection {
    /// The first item at or after `id` that has an entry for the token.
    func firstItem(with token: IndexToken, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByEntry)
        try statement.bind(token, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number(atLeast: id)
    }

    /// The first item at or after `id` that lives in the home.
    func firstItem(inHome home: Int64, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByHome)
        try statement.bind(home, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number(atLeast: id)
    }

    package func item(withUUID identifier: UUID) throws -> Int64? {
        let statement = try statement(.itemByUUID)
        try statement.bind(identifier, at: 1)
        return try statement.number()
    }

    package func item(withUniqueness token: IndexToken) throws -> Int64? {
        let statement = try statement(.itemByUniqueness)
        try statement.bind(token, at: 1)
        return try statement.number()
    }

    /// Calls `body` with the row of an item, if it is there. The row's bytes are valid only within.
    package func withRow<R>(_ id: Int64, secrets: Bool = false, _ body: (StoredRow) throws -> R) throws -> R? {
        let statement = try statement(secrets ? .row : .rowWithoutSecret)
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
        return try statement.number(atLeast: id)
    }

    /// Those that have not expired.
    func itemCounts(at now: ExpiryDate) throws -> [ItemClass: Int] {
        let statement = try statement(.itemCounts)
        try statement.bind(Data(now.storedBytes), at: 1)
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

    package func itemCount() throws -> Int { Int(try statement(.itemCount).number() ?? 0) }

    /// How many entries lead to no row.
    func strayEntryCount() throws -> Int {
        Int(try statement(.strayEntries).number() ?? 0)
    }
}

// MARK: - Homes

extension StoreConnection {
    /// The homes of a class and tier that a search may look through.
    func homes(
        of itemClass: ItemClass, tier: IndexTier, generation: UInt32, in scope: GroupScope,
        synchronizable: ItemQuery.Synchronizable, _ indexer: Indexer
    ) throws -> [Int64] {
        guard case .some(let groups) = scope else {
            return try homes(of: itemClass, tier: tier).filter { $0.generation == generation }.map(\.id)
        }
        var homes: [Int64] = []
        for group in groups {
            for synchronizable in synchronizable.values {
                let home = Home(
                    itemClass: itemClass, tier: tier, generation: generation, accessGroup: group,
                    synchronizable: synchronizable)
                if let id = try self.home(home, indexer) { homes.append(id) }
            }
        }
        return homes
    }

    private func home(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        // A write may see homes that its own roll-back takes away, so it neither asks nor fills the cache.
        guard let highestID = newestHome?.id else { return try findHome(home, indexer) }
        switch homes.lookUp(home, highestID: highestID) {
        case .found(let id): return id
        case .absent: return nil
        case .unknown:
            let id = try findHome(home, indexer)
            homes.remember(id, for: home, highestID: highestID)
            return id
        }
    }

    func findHome(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        let statement = try statement(.homeByToken)
        try statement.bind(indexer.token(of: home), at: 1)
        return try statement.number()
    }

    /// What a home is for, its group and synchronizability left out.
    func kind(ofHome id: Int64) throws -> HomeKind? {
        let statement = try statement(.homeKind)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        guard try statement.step(),
            let itemClass = UInt8(exactly: statement.integer(0)).flatMap(ItemClass.init(number:)),
            let tier = UInt8(exactly: statement.integer(1)).flatMap(IndexTier.init(rawValue:)),
            let generation = UInt32(exactly: statement.integer(2))
        else { return nil }
        return HomeKind(itemClass: itemClass, tier: tier, generation: generation)
    }

    /// Every home of a class and tier, whatever its group and synchronizability.
    private func homes(of itemClass: ItemClass, tier: IndexTier) throws -> [(id: Int64, generation: UInt32)] {
        let statement = try statement(.homesByKind)
        try statement.bind(Int64(itemClass.number), at: 1)
        try statement.bind(Int64(tier.rawValue), at: 2)
        defer { statement.reset() }
        var homes: [(id: Int64, generation: UInt32)] = []
        while try statement.step() { homes.append((statement.integer(0), UInt32(exactly: statement.integer(1)) ?? 0)) }
        return homes
    }

    /// Whether there is any item of a class in a tier.
    ///
    /// - Parameter isGone: Rows that count as none.
    func hasItems(of itemClass: ItemClass, tier: IndexTier, besides isGone: (StoredRow) -> Bool) throws -> Bool {
        for home in try homes(of: itemClass, tier: tier) {
            var next = try firstItem(inHome: home.id, from: 1)
            while let id = next {
                if try withRow(id, isGone) == false { return true }
                next = id < .max ? try firstItem(inHome: home.id, from: id + 1) : nil
            }
        }
        return false
    }

    /// The home's row, made if it is the first item of its kind.
    func makeHome(_ home: Home, _ indexer: Indexer) throws -> Int64 {
        if let id = try findHome(home, indexer) { return id }
        let statement = try statement(.insertHome)
        try statement.bind(Int64(home.itemClass.number), at: 1)
        try statement.bind(Int64(home.tier.rawValue), at: 2)
        try statement.bind(Int64(home.generation), at: 3)
        try statement.bind(indexer.token(of: home), at: 4)
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
    package func insert(_ row: SealedRow) throws {
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

    package func delete(_ id: Int64) throws {
        try deleteEntries(of: id)
        let statement = try statement(.deleteItem)
        try statement.bind(id, at: 1)
        try statement.run()
    }

    @discardableResult
    private func bind(_ row: SealedRow, to statement: SQLiteStatement, from first: Int32) throws -> Int32 {
        if row.metadata.box.count + (row.secret?.box.count ?? 0) > Self.mostKeptBytes { hasWrittenLargeRow = true }
        try statement.bind(try makeHome(row.home, row.indexer), at: first)
        try statement.bind(Int64(row.home.generation), at: first + 1)
        try statement.bind(row.version, at: first + 2)
        try statement.bind(row.uniqueness, at: first + 3)
        try statement.bind(Data(row.accessControl.canonicalBytes), at: first + 4)
        try statement.bind(row.tokens.joinedBytes, at: first + 5)
        try statement.bind(row.metadata.wrappedKey, at: first + 6)
        try statement.bind(row.metadata.box, at: first + 7)
        try statement.bind(row.secret?.wrappedKey, at: first + 8)
        try statement.bind(row.secret?.box, at: first + 9)
        try statement.bind(row.expires.map { Data($0.storedBytes) }, at: first + 10)
        return first + 11
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

// MARK: - Renewing keys

extension StoreConnection {
    /// Under which generation of keys rows must be sealed, at least.
    func sealingGeneration() throws -> UInt32 {
        UInt32(exactly: try statement(.sealingGeneration).number() ?? 0) ?? .max
    }

    func setSealingGeneration(_ generation: UInt32) throws {
        let statement = try statement(.setSealingGeneration)
        try statement.bind(Int64(generation), at: 1)
        try statement.run()
    }

    /// Whether keys of files were ever given out: then files may be anywhere that no other store opens.
    func hasFiles() throws -> Bool { try statement(.fileMark).number() != nil }

    package func noteFiles() throws { try statement(.setFileMark).run() }

    /// The items that go with the passcode, written down while it was being removed.
    func removal() throws -> Set<UUID> {
        let statement = try statement(.removal)
        defer { statement.reset() }
        guard try statement.step(), let bytes = statement.bytes(0) else { return [] }
        return Set(
            stride(from: 0, through: bytes.count - 16, by: 16).compactMap {
                UUID(bytes: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 16]))
            })
    }

    func setRemoval(_ items: [UUID]) throws {
        let statement = try statement(.setRemoval)
        try statement.bind(items.reduce(into: Data()) { $0 += $1.bytes }, at: 1)
        try statement.run()
    }

    func forgetRemoval() throws { try statement(.forgetRemoval).run() }

    /// The first item at or after `id` that is not under this generation of keys.
    func nextItem(from id: Int64, notUnder generation: UInt32) throws -> Int64? {
        let statement = try statement(.nextOutdatedItem)
        try statement.bind(id, at: 1)
        try statement.bind(Int64(generation), at: 2)
        return try statement.number(atLeast: id)
    }

    /// Those with an access control that `isMeant` says yes to. Goes through all items.
    func items(where isMeant: (AccessControl) -> Bool) throws -> [Int64] {
        let all = try statement(.accessControls)
        var meant: [Data] = []
        try all.forEachRow {
            guard let bytes = all.bytes(0).map({ Data($0) }) else { return }
            // One that is not readable is none that anybody means.
            if let control = try? AccessControl(canonicalBytes: bytes), isMeant(control) { meant.append(bytes) }
        }
        let statement = try statement(.itemsByAccessControl)
        var ids: [Int64] = []
        for bytes in meant {
            try statement.bind(bytes, at: 1)
            try statement.forEachRow { ids.append(statement.integer(0)) }
        }
        return ids
    }

    /// Those whose secret is sealed for the passcode's pair of keys. Goes through all items.
    func itemsSealedWithPasscode() throws -> [Int64] {
        try items(where: \.isSealedWithPasscode).filter { id in
            try withRow(id) { $0.secretKey.map(RowSealer.isConstrained(secretKey:)) == true } == true
        }
    }

    /// All of a row but its entries.
    func rewrap(_ id: Int64, with row: RewrappedRow) throws {
        let statement = try statement(.rewrapItem)
        try statement.bind(row.home, at: 1)
        try statement.bind(Int64(row.generation), at: 2)
        try statement.bind(row.uniqueness, at: 3)
        try statement.bind(row.tokens.joinedBytes, at: 4)
        try statement.bind(row.metadataKey, at: 5)
        try statement.bind(row.secretKey, at: 6)
        try statement.bind(id, at: 7)
        try statement.run()
    }

    /// Exchanges the entries of many rows, in the order of the index, so that each of its pages is changed once.
    func exchangeEntries(
        _ former: [(token: IndexToken, item: Int64)], for new: [(token: IndexToken, item: Int64)]
    ) throws {
        for (entries, kind) in [(former, StoreStatement.deleteEntry), (new, .insertEntry)] {
            let statement = try statement(kind)
            for entry in entries.sorted(by: { $0.token.precedes($1.token) }) {
                try statement.bind(entry.token, at: 1)
                try statement.bind(entry.item, at: 2)
                try statement.run()
            }
        }
    }

    /// Removes the homes of older keys, all but those where rows are left that do not open.
    func deleteHomes(before generation: UInt32) throws {
        let statement = try statement(.deleteOldHomes)
        try statement.bind(Int64(generation), at: 1)
        try statement.run()
    }
}

extension IndexToken {
    /// As SQLite compares their bytes.
    fileprivate func precedes(_ other: IndexToken) -> Bool {
        (words.0.bigEndian, words.1.bigEndian) < (other.words.0.bigEndian, other.words.1.bigEndian)
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
