internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import Logging

extension ItemOperations {
    /// The most bytes of one transaction, however few rows they are, so that other writers get their turn.
    private static let mostBytes = 8 << 20

    /// Makes every process write under the newest keys from now on.
    ///
    /// - Returns: the number of rows.
    func beginRekey() throws -> Int {
        // The transaction itself records the newest keys.
        try write { try $0.itemCount() }
    }

    func rowCount() throws -> Int { try read { try $0.itemCount() } }

    /// The result of a batch of rows.
    struct RekeyBatch {
        /// The row at which to go on; nil if there is no further row.
        var next: Int64?
        var count = 0
        /// Rows that do not open, or that have no place under the newest keys.
        var left: [Int64] = []
    }

    /// Brings a batch of rows under the newest keys. Rows that claim to be under them are tried too: a row with a wrong
    /// claim would be lost with the former keys.
    ///
    /// - Throws: `.interactionNotAllowed` if a row needs a key that is locked away; then the batch is undone.
    func rekeyBatch(from start: Int64) throws -> RekeyBatch {
        try write(isLarge: true) { connection in
            var homes = HomesByID(connection: connection)
            var entries = EntryExchange()
            var batch = RekeyBatch(next: try connection.nextItem(from: start))
            var bytes = 0
            while let id = batch.next, batch.count < configuration.rowsPerRekeyStep && bytes < Self.mostBytes {
                if let size = try rekey(id, on: connection, &homes, &entries) {
                    bytes += size
                } else {
                    batch.left.append(id)
                }
                batch.count += 1
                batch.next = id < .max ? try connection.nextItem(from: id + 1) : nil
            }
            try connection.exchangeEntries(entries.former, for: entries.new)
            return batch
        }
    }

    /// Whether the database's structure shows no loss of rows: a row that SQLite does not find is still under former
    /// keys.
    func isDatabaseWhole() throws -> Bool {
        guard try store.integrityProblems().isEmpty else { return false }
        return try read { try $0.strayEntryCount() == 0 }
    }

    /// Whether every row outside `left` claims to be under the newest keys.
    func isNothingOutdated(besides left: Set<Int64>) throws -> Bool {
        try read { connection in
            var next = try connection.nextItem(from: 1, notUnder: keys.generation)
            while let id = next, left.contains(id) {
                next = id < .max ? try connection.nextItem(from: id + 1, notUnder: keys.generation) : nil
            }
            return next == nil
        }
    }

    func forgetOldHomes() throws {
        try write { try $0.deleteHomes(before: keys.generation) }
    }

    /// - Returns: the number of written bytes; nil for a row that is left as it is.
    private func rekey(
        _ id: Int64, on connection: StoreConnection, _ homes: inout HomesByID, _ entries: inout EntryExchange
    ) throws -> Int? {
        var size = 0
        let work = try connection.withRow(id) { row in
            size = row.metadata.count + row.secretByteCount
            return try rewrapping(of: row, homes.kind(row.home))
        }
        switch work ?? .current {
        case .current: return 0
        case .leave:
            logger.warning("a stored item does not open: its keys are kept", metadata: ["row": "\(id)"])
            return nil
        case .delete:
            try connection.delete(id)
        case .rewrap(let home, let indexer, var row):
            if let other = try connection.item(withUniqueness: row.uniqueness), other != id {
                if try connection.withRow(id, isExpired) == true {
                    row.uniqueness = IndexToken(UUID())
                } else if try connection.withRow(other, isExpired) == true {
                    try connection.giveUpName(other)
                } else if try connection.withRow(id, { $0.expires != nil }) == true {
                    // After a clock was set back, two rows that are not hidden can have one name.
                    row.uniqueness = IndexToken(UUID())
                } else if try connection.withRow(other, { $0.expires != nil }) == true {
                    try connection.giveUpName(other)
                } else {
                    // Only edited tables have two rows of one name that never expire.
                    return nil
                }
            }
            row.home = try homes.make(home, indexer)
            try connection.rewrap(id, with: row)
            entries.former += row.oldTokens.map { ($0, id) }
            entries.new += row.tokens.map { ($0, id) }
        }
        return size
    }

    private enum Rewrapping {
        /// The row is under the newest keys.
        case current
        /// The row does not open under any key. The row is kept, and so are the keys.
        case leave
        /// The row is useless (``ItemOperations/isDestroyed(_:)``).
        case delete
        case rewrap(Home, Indexer, RewrappedRow)
    }

    /// - Parameter kind: The class that the row's home names. That class is only tried first, since no key vouches for
    ///   it.
    private func rewrapping(of row: StoredRow, _ kind: HomeKind?) throws(KeychainError) -> Rewrapping {
        guard let control = row.accessControl else { return .leave }
        guard let generation = try generation(of: row, control) else { return try isDestroyed(row) ? .delete : .leave }
        if generation == keys.generation && row.generation == generation { return .current }
        let likely = ItemClass.stored.filter { $0 == kind?.itemClass }
        for itemClass in likely + ItemClass.stored.filter({ !likely.contains($0) }) {
            do throws(KeychainError) {
                return try rewrapping(of: row, as: itemClass, from: generation)
            } catch  where error.code == .decode {
                // The row is of another class, or does not open.
            }
        }
        return .leave
    }

    /// The generation of keys that a row is under, which may differ from the row's claim.
    private func generation(of row: StoredRow, _ control: AccessControl) throws(KeychainError) -> UInt32? {
        let others = keys.snapshot.generations.filter { $0 != row.generation }
        for generation in [row.generation] + others
        where try cipher.keyOpens(row, control, generation: generation) {
            return generation
        }
        return nil
    }

    private func rewrapping(
        of row: StoredRow, as itemClass: ItemClass, from generation: UInt32
    ) throws(KeychainError) -> Rewrapping {
        let binding = try cipher.binding(of: row, itemClass)
        let protection = binding.accessControl.protection
        return try keys.withClassKey(protection, generation: generation) { oldKey throws(KeychainError) in
            try keys.withSealingKey(protection) { newKey throws(KeychainError) in
                try RowSealer.with(classKey: oldKey, binding) { old throws(KeychainError) in
                    try RowSealer.with(classKey: newKey, binding) { new throws(KeychainError) in
                        try rewrap(row, binding, from: old, to: new)
                    }
                }
            }
        }
    }

    private func rewrap(
        _ row: StoredRow, _ binding: RowBinding, from old: RowSealer, to new: RowSealer
    ) throws(KeychainError) -> Rewrapping {
        let item = try old.openMetadata(wrappedKey: row.metadataKey, box: row.metadata).item
        let home = item.home(generation: keys.generation)
        guard let indexer = try keys.indexers(for: home.tier)?.first?.indexer else {
            throw keys.lockedError(.afterFirstUnlock)
        }
        return .rewrap(
            home, indexer,
            RewrappedRow(
                home: 0, generation: keys.generation, uniqueness: indexer.uniquenessToken(of: item),
                oldTokens: [IndexToken](joinedBytes: row.tokens),
                tokens: indexer.tokens(of: item.itemClass, attributes: item.attributes),
                metadataKey: try old.rewrap(row.metadataKey, for: new),
                secretKey: try row.secretKey.map { key throws(KeychainError) in try old.rewrap(key, for: new) }))
    }
}

/// The entries that a batch removes and adds.
private struct EntryExchange {
    var former: [(token: IndexToken, item: Int64)] = []
    var new: [(token: IndexToken, item: Int64)] = []
}

/// The homes of a batch's rows, each looked up once.
private struct HomesByID {
    let connection: StoreConnection
    private var kinds: [Int64: HomeKind] = [:]
    private var made: [Home: Int64] = [:]

    init(connection: StoreConnection) { self.connection = connection }

    mutating func kind(_ id: Int64) throws -> HomeKind? {
        if let kind = kinds[id] { return kind }
        let kind = try connection.kind(ofHome: id)
        kinds[id] = kind
        return kind
    }

    mutating func make(_ home: Home, _ indexer: Indexer) throws -> Int64 {
        if let id = made[home] { return id }
        let id = try connection.makeHome(home, indexer)
        made[home] = id
        return id
    }
}
