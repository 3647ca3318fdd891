internal import Foundation
internal import KeychainModel

// An item that has expired is not there: no search meets it, and nothing gives way to it. Its bytes go with the next write.

extension ItemOperations {
    /// As many go in one transaction at most, so that the write at hand does not wait long for them.
    private static let mostRemovedAtOnce = 1_000

    /// Whether a row is not there any more. One with a damaged date is left to its opening, which fails.
    ///
    /// The date is that of the row itself, which a locked one tells too.
    func isExpired(_ row: StoredRow) -> Bool {
        guard let date = row.expires, date <= now else { return false }
        keys.noteExpired(date)
        return true
    }

    /// - Returns: how many there were.
    @discardableResult
    func removeExpired(on connection: StoreConnection) throws -> Int {
        let ids = try expiredRows(on: connection)
        for id in ids { try connection.delete(id) }
        return ids.count
    }

    /// The index that leads to them is not believed: its entries may be damaged, and lead to another row, or to none.
    private func expiredRows(on connection: StoreConnection) throws -> [Int64] {
        try connection.expiredItems(at: now, most: Self.mostRemovedAtOnce).filter { id in
            try connection.withRow(id, isExpired) == true
        }
    }

    /// Removes all, in as many transactions as that takes. Without any, nothing is written. No key is asked for.
    func removeAllExpired() throws -> ExpirySweep {
        var removed = 0
        var (isAny, next) = try store.read { connection in
            (try !expiredRows(on: connection).isEmpty, try connection.nextExpiry(after: now))
        }
        while isAny {
            let count = try store.remove { try removeExpired(on: $0) }
            removed += count
            isAny = count == Self.mostRemovedAtOnce
        }
        if removed > 0 { next = try store.read { try $0.nextExpiry(after: now) } }
        return ExpirySweep(removedCount: removed, next: next)
    }
}

extension ItemOperations {
    func counts() throws -> [ItemClass: Int] { try store.read { try $0.itemCounts(at: now) } }
}

extension Engine {
    func removeExpired() throws -> ExpirySweep {
        let sweep = try items().removeAllExpired()
        if sweep.removedCount > 0 {
            changes.note(ItemClass.stored, in: nil)
            // The former ciphertext is in the log, too.
            emptyLog()
        }
        return sweep
    }
}

extension StoreConnection {
    /// Those whose date is one, and has passed, the first to expire first.
    func expiredItems(at now: ExpiryDate, most: Int) throws -> [Int64] {
        let statement = try statement(.expiredItems)
        try statement.bind(Data(now.storedBytes), at: 1)
        try statement.bind(Int64(most), at: 2)
        var ids: [Int64] = []
        try statement.forEachRow {
            guard let date = statement.bytes(1).flatMap(ExpiryDate.init(storedBytes:)), date <= now else { return }
            ids.append(statement.integer(0))
        }
        return ids
    }

    func nextExpiry(after now: ExpiryDate) throws -> ExpiryDate? {
        let statement = try statement(.nextExpiries)
        try statement.bind(Data(now.storedBytes), at: 1)
        defer { statement.reset() }
        while try statement.step() {
            if let date = statement.bytes(0).flatMap(ExpiryDate.init(storedBytes:)) { return date }
        }
        return nil
    }
}
