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
        let ids = try connection.expiredItems(at: now, most: Self.mostRemovedAtOnce)
        for id in ids { try connection.delete(id) }
        return ids.count
    }

    /// Removes all, in as many transactions as that takes. Without any, nothing is written.
    func removeAllExpired() throws -> ExpirySweep {
        var removed = 0
        var count = try read { try $0.expiredItems(at: now, most: Self.mostRemovedAtOnce).count }
        while count > 0 {
            count = try store.remove { try removeExpired(on: $0) }
            removed += count
        }
        return ExpirySweep(removedCount: removed, next: try read { try $0.nextExpiry(after: now) })
    }
}

extension ItemOperations {
    func counts() throws -> [ItemClass: Int] { try store.read { try $0.itemCounts(at: now) } }
}

extension Engine {
    func removeExpired() throws -> ExpirySweep {
        let sweep = try items().removeAllExpired()
        // The former ciphertext is in the log, too.
        if sweep.removedCount > 0 { emptyLog() }
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
        var next: ExpiryDate?
        try statement.forEachRow {
            if next == nil { next = statement.bytes(0).flatMap(ExpiryDate.init(storedBytes:)) }
        }
        return next
    }
}
