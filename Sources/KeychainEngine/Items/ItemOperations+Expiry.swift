internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

// An item that has expired is hidden: no search meets it, and no request is refused because of it. Its row is deleted
// only when the store's sightings of the clock say that the date has passed for good.

extension ItemOperations {
    /// The most rows that one transaction removes or looks at, so that the write at hand does not wait long.
    static let mostRemovedAtOnce = 1_000
    /// The most seconds by which the file system's clock and the kernel's may differ.
    private static let mostDisagreement = 300.0

    /// Whether a row is hidden. A row with a damaged date is not: opening it fails.
    ///
    /// The date stands in the row itself, so a locked row has it too.
    package func isExpired(_ row: StoredRow) -> Bool {
        guard let date = row.expires, date <= now else { return false }
        keys.noteExpired(date)
        return true
    }

    /// Removes rows whose date has passed for good, and notes the clock's reading for others.
    ///
    /// - Returns: nil if there was nothing to do.
    @discardableResult
    func removeExpired(
        lookingAt most: Int = mostRemovedAtOnce, on connection: StoreConnection
    ) throws -> (count: Int, topics: Set<ChangeFeed.Topic>)? {
        guard let work = try expiryWork(lookingAt: most, on: connection) else { return nil }
        for id in work.items { try connection.delete(id) }
        if let sightings = work.sightings, let indexer = try sightingIndexers().first {
            try connection.setSightings(sightings, indexer)
        }
        if let resume = work.resume { try connection.setExpiryPosition(resume) }
        return (work.items.count, work.topics)
    }

    /// Removes all such rows, in as many transactions as that takes. Nothing is written if nothing is to be removed or
    /// noted.
    ///
    func removeAllExpired() throws -> ExpirySweep {
        var removed = 0
        while try store.read({ try expiryWork(lookingAt: .max, on: $0) }) != nil {
            guard let part = try store.remove({ try removeExpired(lookingAt: .max, on: $0) }) else { break }
            changes?.note(part.topics)
            removed += part.count
            guard part.count == Self.mostRemovedAtOnce else { break }
        }
        return ExpirySweep(removedCount: removed, next: try store.read(nextLook))
    }

    /// The time of the next sweep with work: an item expires, or an expired row may be removed.
    private func nextLook(on connection: StoreConnection) throws -> ExpiryDate? {
        let next = try connection.nextExpiry(after: now)
        guard try connection.latestExpiry(by: clockDate) != nil else { return next }
        let sightings = try connection.sightings(try sightingIndexers())
        let wait = sightings.wait(at: configuration.clock.reading) ?? Sightings.age / 1_000_000
        return [next, ExpiryDate(milliseconds: clockDate.milliseconds + wait)].compactMap(\.self).min()
    }
}

// MARK: - By the word of a person

extension ItemOperations {
    /// The items that have expired by the clock and open, without their secrets. An item that only the latest date seen
    /// hides is left out, since no key vouches for that date.
    func expiredItems() throws -> [Item] {
        var found = FoundItems(most: configuration.mostBytesInAnswer, mostBytes: mostBytes)
        try read { connection in try forEachExpired(on: connection) { try found.append($0.item) } }
        return found.items
    }

    /// Deletes the expired items with these identifiers.
    ///
    /// - Returns: the number of deleted items.
    func deleteExpired(_ identifiers: Set<UUID>) throws -> Int {
        // Items that the sweep removes would be missing from the count.
        try write(onlyRemoves: true, removesExpired: false) { connection in
            var rows: [Int64] = []
            try forEachExpired(on: connection) { if identifiers.contains($0.item.identifier) { rows.append($0.id) } }
            for id in rows { try connection.delete(id) }
            return rows.count
        }
    }

    private func forEachExpired(on connection: StoreConnection, _ body: (OpenedRow) throws -> Void) throws {
        let end = clockDate
        var last = ExpiryPosition.start
        while let next = try connection.expiredItems(by: end, after: last, most: 1).first {
            last = next
            try requireMemory(forRow: next.id, withSecret: false, on: connection)
            if let row = try openExpired(next.id, by: end, cipher, on: connection) { try body(row) }
        }
    }
}

extension Engine {
    /// - Parameter mostBytes: The memory for the items; nil if there is enough.
    func expiredItems(deleting items: [UUID], within mostBytes: Int?) throws -> Reply {
        if items.isEmpty {
            var operations = try self.items()
            operations.mostBytes = mostBytes
            return .found(try operations.expiredItems())
        }
        let count = try self.items().deleteExpired(Set(items))
        emptyLog()
        return .deleted(count)
    }
}

// MARK: - The work of a write

/// The work of a write on expired items.
private struct ExpiryWork {
    var items: [Int64] = []
    /// The places of the items that go, or that have expired since the last look, as far as they open: the unlock, of
    /// which everybody is told, brings the others to the day.
    var topics: Set<ChangeFeed.Topic> = []
    /// nil if they stay as they are.
    var sightings: Sightings?
    /// The place where the next write goes on looking; nil if it stays as it is.
    var resume: ExpiryPosition?
}

/// A place among the rows with a date, in the order of their dates.
struct ExpiryPosition: Equatable {
    static let start = ExpiryPosition(date: .earliest, id: .min)

    var date: ExpiryDate
    var id: Int64

    init(date: ExpiryDate, id: Int64) { (self.date, self.id) = (date, id) }

    /// nil unless the bytes are a date, as in a row, and the number of the row. No key vouches for them: a position
    /// only says which rows are looked at first.
    init?(storedBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 24, let date = ExpiryDate(storedBytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(16)))
        else { return nil }
        self.init(date: date, id: Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self)))
    }

    var storedBytes: Data { Data(date.storedBytes) + withUnsafeBytes(of: id.bigEndian) { Data($0) } }
}

extension ItemOperations {
    /// nil if there is nothing to do.
    private func expiryWork(lookingAt most: Int, on connection: StoreConnection) throws -> ExpiryWork? {
        let known = try connection.sightings(try sightingIndexers())
        // Nearly every write ends here.
        if try known.all.isEmpty && connection.latestExpiry(by: clockDate) == nil { return nil }
        let reading = configuration.clock.reading
        let now = ExpiryDate(clamping: reading.now)
        var (work, sightings) = (ExpiryWork(), known)
        sightings.forget(contradictedBy: reading)
        if let latest = try connection.latestExpiry(by: now) {
            let confirmed = sightings.confirmed(by: reading)
            // A sighting of an earlier start may never count: not every system has its clock synchronised.
            let isNew = !sightings.all.contains { $0.boot == reading.bootID && $0.date >= latest }
            if confirmed != nil || isNew, fileSystemAgrees(with: reading) {
                if let confirmed { work = try removal(by: confirmed, lookingAt: most, on: connection) }
                if isNew {
                    let last = sightings.all.filter { $0.boot == reading.bootID }.map(\.date).max()
                    work.topics.formUnion(try topics(expiredAfter: last ?? .earliest, by: now, on: connection))
                    sightings.note(reading)
                }
            }
        } else {
            sightings = Sightings()
        }
        if sightings != known { work.sightings = sightings }
        return work.items.isEmpty && work.sightings == nil && work.resume == nil ? nil : work
    }

    /// The rows to remove: those that open, which proves their dates, the first to expire first. A locked row waits for
    /// its key, and keeps no other row waiting: a write that does not come to the end leaves the rest to the next.
    private func removal(
        by date: ExpiryDate, lookingAt most: Int, on connection: StoreConnection
    ) throws -> ExpiryWork {
        var unnoticed = cipher
        unnoticed.keys = keys.unnoticed()
        let start = most < .max ? try connection.expiryPosition() : .start
        var (work, looked) = (ExpiryWork(), 0)
        var last = start
        while looked < most && work.items.count < Self.mostRemovedAtOnce {
            let page = try connection.expiredItems(
                by: date, after: last, most: min(most - looked, Self.mostRemovedAtOnce - work.items.count))
            for row in page {
                guard let item = try openExpired(row.id, by: date, unnoticed, on: connection)?.item else { continue }
                work.items.append(row.id)
                work.topics.insert(ChangeFeed.Topic(item))
            }
            looked += page.count
            last = page.last ?? .start
            if page.isEmpty { break }
        }
        if most < .max && last != start { work.resume = last }
        return work
    }

    private func topics(
        expiredAfter date: ExpiryDate, by now: ExpiryDate, on connection: StoreConnection
    ) throws -> Set<ChangeFeed.Topic> {
        var unnoticed = cipher
        unnoticed.keys = keys.unnoticed()
        let rows = try connection.expiredItems(
            by: now, after: ExpiryPosition(date: date, id: .max), most: Self.mostRemovedAtOnce)
        let opened = try rows.compactMap { try openExpired($0.id, by: now, unnoticed, on: connection)?.item }
        return Set(opened.map(ChangeFeed.Topic.init))
    }

    /// nil for a row that does not open, or has not expired by that date. The index is not believed: a damaged entry
    /// may lead to another row, or to none.
    private func openExpired(
        _ id: Int64, by date: ExpiryDate, _ cipher: RowCipher, on connection: StoreConnection
    ) throws -> OpenedRow? {
        guard let home = try connection.withRow(id, { $0.home }), let kind = try connection.kind(ofHome: home) else {
            return nil
        }
        do {
            return try connection.withRow(id) { row in
                guard let expires = row.expires, expires <= date else { return nil }
                return try cipher.open(row, as: kind.itemClass) { _ in .metadata }
            } ?? nil
        } catch let error as KeychainError where [.decode, .interactionNotAllowed].contains(error.code) {
            return nil
        }
    }

    private func sightingIndexers() throws(KeychainError) -> [Indexer] {
        try keys.indexers(for: .always)?.map(\.indexer) ?? []
    }

    /// Whether the file system's clock agrees with the reading, by a write to a file of the store.
    private func fileSystemAgrees(with reading: ClockReading) -> Bool {
        // A copied or repaired store may lack the file.
        guard let file = try? OwnFile.make(configuration.storeLock, through: configuration.files) else { return false }
        defer { close(file) }
        guard let written = configuration.clock.now(byWritingTo: file) else { return false }
        return abs(written - reading.now) <= Self.mostDisagreement
    }
}

extension ItemOperations {
    /// Counts the items that have not expired, those of some groups as far as the index is within reach.
    func counts(in scope: GroupScope) throws -> [ItemClass: Int] {
        try store.read { connection in
            if scope.isAll { return try connection.itemCounts(at: now) }
            var counts: [ItemClass: Int] = [:]
            for (itemClass, tier) in ItemClass.stored.flatMap({ itemClass in IndexTier.allCases.map { (itemClass, $0) }
            }) {
                for (generation, indexer) in try keys.indexers(for: tier) ?? [] {
                    let homes = try connection.homes(
                        of: itemClass, tier: tier, generation: generation, in: scope, synchronizable: .any, indexer)
                    for home in homes {
                        counts[itemClass, default: 0] += try connection.itemCount(inHome: home, at: now)
                    }
                }
            }
            return counts
        }
    }
}

extension Engine {
    func removeExpired() throws -> ExpirySweep {
        let sweep = try items().removeAllExpired()
        // The log has the removed ciphertext, too.
        if sweep.removedCount > 0 { emptyLog() }
        return sweep
    }
}

extension StoreConnection {
    /// The rows with a valid date that has passed, the first to expire first.
    func expiredItems(
        by now: ExpiryDate, after last: ExpiryPosition, most: Int
    ) throws -> [ExpiryPosition] {
        let statement = try statement(.expiredItems)
        try statement.bind(Data(now.storedBytes), at: 1)
        try statement.bind(Data(last.date.storedBytes), at: 2)
        try statement.bind(last.id, at: 3)
        try statement.bind(Int64(most), at: 4)
        var items: [ExpiryPosition] = []
        try statement.forEachRow {
            guard let date = statement.bytes(1).flatMap(ExpiryDate.init(storedBytes:)), date <= now else { return }
            items.append(ExpiryPosition(date: date, id: statement.integer(0)))
        }
        return items
    }

    /// The place where the last write ended that did not look at all expired rows.
    func expiryPosition() throws -> ExpiryPosition {
        let statement = try statement(.expiryPosition)
        defer { statement.reset() }
        guard try statement.step() else { return .start }
        return statement.blob(0).flatMap(ExpiryPosition.init(storedBytes:)) ?? .start
    }

    func setExpiryPosition(_ position: ExpiryPosition) throws {
        guard position != .start else { return try statement(.forgetExpiryPosition).run() }
        let statement = try statement(.setExpiryPosition)
        try statement.bind(position.storedBytes, at: 1)
        try statement.run()
    }

    /// The latest date that has passed.
    func latestExpiry(by now: ExpiryDate) throws -> ExpiryDate? { try firstDate(.passedExpiries, now) }

    func nextExpiry(after now: ExpiryDate) throws -> ExpiryDate? { try firstDate(.nextExpiries, now) }

    private func firstDate(_ kind: StoreStatement, _ now: ExpiryDate) throws -> ExpiryDate? {
        let statement = try statement(kind)
        try statement.bind(Data(now.storedBytes), at: 1)
        defer { statement.reset() }
        while try statement.step() {
            if let date = statement.bytes(0).flatMap(ExpiryDate.init(storedBytes:)) { return date }
        }
        return nil
    }
}

// MARK: - Names

extension StoreConnection {
    /// Frees the name of a hidden row for another row. Without a name the row stays until it is removed, or until the
    /// clock brings it back.
    package func giveUpName(_ id: Int64) throws {
        let statement = try statement(.giveUpName)
        try statement.bind(id, at: 1)
        try statement.run()
    }
}
