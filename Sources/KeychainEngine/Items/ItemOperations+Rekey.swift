internal import Foundation
internal import KeychainCrypto
internal import KeychainModel
internal import Logging

extension ItemOperations {
    /// A transaction does no more than this, however few rows it is, so that other writers get their turn.
    private static let mostBytes = 8 << 20

    /// Makes every process write under the newest keys from now on.
    ///
    /// - Returns: how many rows there are.
    func beginRekey() throws -> Int {
        // The transaction itself says so.
        try write { try $0.itemCount() }
    }

    func rowCount() throws -> Int { try read { try $0.itemCount() } }

    /// Brings a batch of rows under the newest keys.
    ///
    /// - Returns: where to go on, nil if there is no further row, and how many were dealt with.
    /// - Throws: `.interactionNotAllowed` if keys are locked away that a row needs; then the batch is undone.
    func rekeyBatch(from start: Int64) throws -> (next: Int64?, count: Int) {
        try write(isLarge: true) { connection in
            var homes = HomesByID(connection: connection)
            var entries = EntryExchange()
            var next = try connection.nextItem(from: start, notUnder: keys.generation)
            var count = 0
            var bytes = 0
            while let id = next, count < configuration.rowsPerRekeyStep && bytes < Self.mostBytes {
                bytes += try rekey(id, on: connection, &homes, &entries)
                count += 1
                next = id < .max ? try connection.nextItem(from: id + 1, notUnder: keys.generation) : nil
            }
            try connection.exchangeEntries(entries.former, for: entries.new)
            return (next, count)
        }
    }

    /// Whether every row that is not under the newest keys is one that does not open.
    func isNothingLeft() throws -> Bool {
        try read { connection in
            var homes = HomesByID(connection: connection)
            var next = try connection.nextItem(from: 1, notUnder: keys.generation)
            while let id = next {
                let work = try connection.withRow(id) { try rewrapping(of: $0, homes.kind($0.home)) }
                if case .rewrap(_, _, let row) = work ?? .leave {
                    // One of two rows with the same unique attributes is left too.
                    guard try connection.item(withUniqueness: row.uniqueness) != nil else { return false }
                }
                next = id < .max ? try connection.nextItem(from: id + 1, notUnder: keys.generation) : nil
            }
            return true
        }
    }

    func forgetOldHomes() throws {
        try write { try $0.deleteHomes(before: keys.generation) }
    }

    /// - Returns: how large the row is.
    private func rekey(
        _ id: Int64, on connection: StoreConnection, _ homes: inout HomesByID, _ entries: inout EntryExchange
    ) throws -> Int {
        var size = 0
        let work = try connection.withRow(id) { row in
            size = row.metadata.count + row.secretByteCount
            return try rewrapping(of: row, homes.kind(row.home))
        }
        switch work ?? .leave {
        case .leave:
            logger.warning("a stored item does not open and keeps its old keys", metadata: ["row": "\(id)"])
        case .delete:
            try connection.delete(id)
        case .rewrap(let home, let indexer, var row):
            // Only edited tables have two rows with the same unique attributes. One of them is left.
            if let other = try connection.item(withUniqueness: row.uniqueness), other != id { break }
            row.home = try homes.make(home, indexer)
            try connection.rewrap(id, with: row)
            entries.former += row.oldTokens.map { ($0, id) }
            entries.new += row.tokens.map { ($0, id) }
        }
        return size
    }

    private enum Rewrapping {
        /// The row does not open. It is kept, as everywhere.
        case leave
        /// Its key was destroyed, while others of that generation are there: a passcode was removed, or the store erased.
        case delete
        case rewrap(Home, Indexer, RewrappedRow)
    }

    private func rewrapping(of row: StoredRow, _ kind: HomeKind?) throws(KeychainError) -> Rewrapping {
        guard let kind else { return .leave }
        do throws(KeychainError) {
            let binding = try cipher.binding(of: row, kind.itemClass)
            let protection = binding.accessControl.protection
            guard keys.exists(protection, generation: row.generation) else {
                return keys.snapshot.generations.contains(row.generation) ? .delete : .leave
            }
            return try keys.withClassKey(protection, generation: row.generation) { oldKey throws(KeychainError) in
                try keys.withSealingKey(protection) { newKey throws(KeychainError) in
                    try RowSealer.with(classKey: oldKey, binding) { old throws(KeychainError) in
                        try RowSealer.with(classKey: newKey, binding) { new throws(KeychainError) in
                            try rewrap(row, binding, from: old, to: new)
                        }
                    }
                }
            }
        } catch  where error.code == .decode {
            return .leave
        }
    }

    private func rewrap(
        _ row: StoredRow, _ binding: RowBinding, from old: RowSealer, to new: RowSealer
    ) throws(KeychainError) -> Rewrapping {
        let item = OpenedRow(
            id: row.id, uuid: binding.rowID, version: row.version, generation: row.generation,
            itemClass: binding.itemClass, accessControl: binding.accessControl,
            metadata: try old.openMetadata(wrappedKey: row.metadataKey, box: row.metadata))
        let home = item.home(generation: keys.generation)
        guard let indexer = try keys.indexers(for: home.tier)?.first?.indexer else {
            throw keys.lockedError(.afterFirstUnlock)
        }
        return .rewrap(
            home, indexer,
            RewrappedRow(
                home: 0, generation: keys.generation, uniqueness: indexer.uniquenessToken(of: item),
                oldTokens: [IndexToken](joinedBytes: row.tokens),
                tokens: indexer.tokens(of: item.itemClass, attributes: item.metadata.attributes),
                metadataKey: try old.rewrap(row.metadataKey, for: new),
                secretKey: try row.secretKey.map { key throws(KeychainError) in try old.rewrap(key, for: new) }))
    }
}

/// The entries that a batch takes away and makes.
private struct EntryExchange {
    var former: [(token: IndexToken, item: Int64)] = []
    var new: [(token: IndexToken, item: Int64)] = []
}

/// The homes that a batch meets, each looked up once.
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
