internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainEngine
internal import KeychainModel

/// Copies the rows that open from the pages of a damaged database into a new one, unchanged.
struct RowRescue {
    private let items: ItemOperations
    private let echo: RowEcho
    private var saved: Set<Data> = []
    private var unreadable: Set<Data> = []
    /// Rows that were saved and then left out for a newer row of the same name.
    private var displaced: Set<UUID> = []

    init(_ items: ItemOperations) throws(KeychainError) {
        self.items = items
        echo = try RowEcho()
    }

    /// Rows of which another copy was saved do not count.
    var unreadableCount: Int { unreadable.subtracting(saved).count + displaced.count }

    /// Expired rows are saved too: they stay hidden, and are deleted as any other expired row.
    mutating func save(_ rows: [SalvagedRow]) throws {
        var taken: [Data] = []
        var given: [Data] = []
        var former: Set<UUID> = []
        try items.write { connection in
            for row in rows {
                switch try open(row) {
                case .some(let opened):
                    if try insert(row, opened, &former, connection) {
                        taken.append(row.uuid)
                    } else {
                        given.append(row.uuid)
                    }
                case .none: given.append(row.uuid)
                }
            }
        }
        saved.formUnion(taken)
        unreadable.formUnion(given)
        displaced.formUnion(former)
    }

    /// The item, with its secret unless an authentication is part of its key. Every class is tried, since the table
    /// that names a row's class may be damaged.
    private func open(_ row: SalvagedRow) throws -> OpenedRow? {
        for itemClass in ItemClass.stored {
            do {
                let item = try echo.withStoredRow(row) {
                    try items.cipher.open($0, as: itemClass) { _ in .everythingFree }
                }
                if let item { return item }
            } catch let error as KeychainError where [.decode, .interactionNotAllowed].contains(error.code) {}
        }
        return nil
    }

    /// - Returns: false if the store has a newer version of the row, or another item of the same name.
    private func insert(
        _ row: SalvagedRow, _ opened: OpenedRow, _ displaced: inout Set<UUID>, _ connection: StoreConnection
    ) throws -> Bool {
        let (item, home) = (opened.item, opened.item.home(generation: opened.generation))
        guard
            let indexer = try items.keys.indexers(for: home.tier)?.first(where: { $0.generation == home.generation })?
                .indexer
        else { return false }
        var sealed = SealedRow(
            item, at: home, indexer, version: opened.version,
            (
                metadata: SealedHalf(wrappedKey: row.metadataKey, box: row.metadata),
                secret: row.secretKey.flatMap { key in row.secret.map { SealedHalf(wrappedKey: key, box: $0) } }
            ))
        if let other = try connection.item(withUUID: sealed.uuid) {
            guard try isNewer(opened, than: other, connection) else { return false }
            try connection.delete(other)
        }
        if let other = try connection.item(withUniqueness: sealed.uniqueness) {
            if try echo.withStoredRow(row, items.isExpired) {
                sealed.uniqueness = IndexToken(UUID())
            } else if try connection.withRow(other, items.isExpired) == true {
                try connection.giveUpName(other)
            } else {
                let isNewer = try isNewer(opened, than: other, connection)
                let mayGiveUp = try connection.withRow(other) { $0.expires != nil } == true
                // Both rows stay if a clock that was set back explains that there are two; the newer one has the name.
                if mayGiveUp && (isNewer || item.expires == nil) {
                    try connection.giveUpName(other)
                } else if item.expires != nil {
                    sealed.uniqueness = IndexToken(UUID())
                } else {
                    guard isNewer else { return false }
                    if let uuid = try connection.withRow(other, { $0.uuid }) ?? nil { displaced.insert(uuid) }
                    try connection.delete(other)
                }
            }
        }
        try connection.insert(sealed)
        return true
    }

    /// Whether `row` was written later than the other copy, or the other item with the same unique attributes.
    private func isNewer(_ row: OpenedRow, than other: Int64, _ connection: StoreConnection) throws -> Bool {
        guard
            let present = try items.openWhole(
                other, as: row.item.itemClass, .everythingFree, evenExpired: true, on: connection)
        else { return true }
        // Copies of one row are compared by their count of versions, which does not depend on the clock.
        if row.item.identifier == present.item.identifier {
            return (row.version, Int64(row.generation)) > (present.version, Int64(present.generation))
        }
        return row.item.modified > present.item.modified
    }
}
