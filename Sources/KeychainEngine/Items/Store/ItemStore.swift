internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import KeychainCrypto
internal import KeychainModel
internal import Logging
internal import Synchronization

/// The database of a store: readers side by side, one writer at a time, every commit on the disk before it is reported.
final class ItemStore: Sendable {
    let url: URL
    let storeID: UUID
    private let schema: StoreSchema
    private let verifiedEpoch = BriefLock<UInt64?>(nil)
    private let readers: ReaderPool
    private let writeQueue: WriteQueue
    private let reserve: SpaceReserve
    private let pagesGivenBackAtOnce: Int
    private let logger = Logger(label: "keychain.store")
    let groupCommit: GroupCommit
    private let openWriter: @Sendable () throws -> DatabaseQueue
    /// Opened by the first write: many a process only reads.
    private let writer = Mutex<DatabaseQueue?>(nil)
    /// The last to go, after every connection.
    private let openMark: OpenStores.Mark

    init(
        url: URL, storeID: UUID, configuration: EngineConfiguration, readers: ReaderPool, writeQueue: WriteQueue,
        reserve: SpaceReserve, openMark: OpenStores.Mark, openWriter: @escaping @Sendable () throws -> DatabaseQueue
    ) {
        self.writeQueue = writeQueue
        groupCommit = GroupCommit(longest: configuration.longestSharedTransaction)
        self.reserve = reserve
        pagesGivenBackAtOnce = configuration.pagesGivenBackAtOnce
        self.url = url
        self.openMark = openMark
        self.storeID = storeID
        schema = configuration.schema
        self.readers = readers
        self.openWriter = openWriter
    }

    /// Runs `body` on one snapshot of the store.
    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try withReader { reader in
            // A snapshot begins with the first step of a statement and lasts until it is reset: this one is needed
            // anyhow, and spares a BEGIN and a COMMIT.
            let anchor = try reader.statement(.newestHome)
            defer { anchor.reset() }
            var newest = NewestHome()
            if try anchor.step() {
                newest = NewestHome(id: anchor.integer(0), generation: UInt32(exactly: anchor.integer(1)) ?? .max)
            }
            return try body(StoreConnection(reader, reading: ReadSnapshot(newest, reader.homes)))
        }
    }

    /// Runs `body` in a transaction, which writes of other threads may share, perhaps in another thread. If it throws,
    /// nothing of it is changed.
    func write<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        var result: R?
        try groupCommit.write { database in
            result = try body(StoreConnection(WriterStatements(database: database)))
        } transact: { writes in
            try withWriter { database in
                try transact(on: database, writes)
                giveBackManyPages(of: database)
            }
        }
        return result!
    }

    /// SQLite's own choice: it moves the log into the database when it has that many pages.
    private static let pagesBetweenCheckpoints: Int32 = 1_000

    /// Runs `body` in a transaction that no other write shares, for large ones. If it throws, nothing is changed.
    ///
    /// - Parameters:
    ///   - pages: How long the log may become before it is moved into the database.
    ///   - forgetsPages: Whether the pages that were used are dropped from memory afterwards.
    func writeAlone<R>(
        pagesBetweenCheckpoints pages: Int32, forgetsPages: Bool, _ body: (StoreConnection) throws -> R
    ) throws -> R {
        try withWriter { database in
            sqlite3_wal_autocheckpoint(database.sqliteConnection, pages)
            defer { sqlite3_wal_autocheckpoint(database.sqliteConnection, Self.pagesBetweenCheckpoints) }
            defer { if forgetsPages { sqlite3_db_release_memory(database.sqliteConnection) } }
            return try transactAlone(on: database, body)
        }
    }

    private func transactAlone<R>(
        on database: Database, givesBackPages: Bool = true, _ body: (StoreConnection) throws -> R
    ) throws -> R {
        var result: R?
        try transact(on: database, givesBackPages: givesBackPages) { database in
            result = try body(StoreConnection(WriterStatements(database: database)))
        }
        return result!
    }

    /// Runs `body` in a transaction that no other process shares, and commits; rolls back if it throws.
    ///
    /// - Parameter givesBackPages: false for one that has to do with little space: pages that are moved take some.
    private func transact(
        on database: Database, givesBackPages: Bool = true, _ body: (Database) throws -> Void
    ) throws {
        writeQueue.letOthersPass()
        defer { writeQueue.leave() }
        try database.inTransaction(.immediate) {
            writeQueue.leave()
            try requireInPlace(database)
            try requireVersion(try Int.fetchOne(database, sql: "PRAGMA user_version"))
            try body(database)
            if givesBackPages { try giveBackFewPages(of: database) }
            return .commit
        }
    }

    /// - Throws: `.notAvailable` if the file was removed or replaced: a write into it would be acknowledged and lost.
    private func requireInPlace(_ database: Database) throws(KeychainError) {
        var hasMoved: CInt = 0
        let code = sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard code == SQLITE_OK, hasMoved == 0 else {
            throw KeychainError(
                .notAvailable,
                message: "\(url.path) was removed or replaced while this program had it open; start the program again")
        }
    }

    /// Looks whether the tables are still of the version that this program knows, once for each epoch of the lock: whoever
    /// changes them begins another one.
    ///
    /// - Throws: `.notAvailable` if a newer program has brought them up to its own.
    func requireVersion(asOf epoch: UInt64) throws {
        guard verifiedEpoch.withLock({ $0 }) != epoch else { return }
        try requireVersion(try withReader { try $0.number("PRAGMA user_version") }.map { Int($0) })
        verifiedEpoch.withLock { $0 = epoch }
    }

    private func requireVersion(_ found: Int?) throws(KeychainError) {
        guard found != schema.version else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "a newer version of keychain has brought \(url.path) up to its own format; start the program again "
                + "with that version")
    }

    /// Moves what this process wrote into the database, and cuts the log to nothing.
    func emptyLog() throws {
        guard let writer = writer.withLock({ $0 }) else { return }
        try writer.writeWithoutTransaction { try emptyLog(of: $0) }
    }

    private func emptyLog(of database: Database) throws {
        // Neither the end of a process nor a lock waits for another process that is reading.
        _ = try writeQueue.withoutWaiting { try database.checkpoint(.truncate) }
    }

    /// What SQLite itself finds wrong with its file; empty if nothing.
    func integrityProblems() throws -> [String] {
        try withReader { reader in
            try reader.rows("PRAGMA integrity_check(20)") { $0.text(0) }.filter { $0 != "ok" }
        }
    }

    /// For what writes every row, and could write one over another in a damaged database.
    func requireIntact() throws {
        guard let problem = try integrityProblems().first else { return }
        throw KeychainError.damagedDatabase(problem)
    }

    /// How SQLite would run a statement.
    func plan(of statement: StoreStatement) throws -> [String] {
        try withReader { try $0.rows("EXPLAIN QUERY PLAN \(statement.sql)") { $0.text(3) } }
    }

    private func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
        let reader = try readers.take()
        defer { readers.give(reader) }
        return try body(reader)
    }

    func withWriter<R>(_ body: (Database) throws -> R) throws -> R {
        let (writer, isNew) = try writer.withLock { writer in
            if let writer { return (writer, false) }
            let opened = try openWriter()
            // SQLite writes over the pages that its list of free ones names. Early stores have such a list, and a process
            // that was killed may leave one.
            if try opened.writeWithoutTransaction(freePageCount) > 0 { try requireIntact() }
            writer = opened
            return (opened, true)
        }
        let result = try writer.writeWithoutTransaction(body)
        // After the work: a full disk should not be filled before it.
        if isNew { reserve.keep() }
        return result
    }
}

// MARK: - Space

extension ItemStore {
    /// As ``write(_:)``, for what only removes items. If the disk is full, the space that is kept for that is used.
    func remove<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        do {
            return try write(body)
        } catch  where KeychainError(engineFailure: error).code == .diskFull {
            return try reserve.spend { try removeWithLittleSpace(body) }
        }
    }

    private func removeWithLittleSpace<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try withWriter { database in
            // Overwriting what is freed takes as much of the log as was freed. Instead the pages go altogether.
            let givesBack = try canGiveBackPages(database)
            if givesBack { try database.execute(sql: "PRAGMA secure_delete = FAST") }
            let result = Result { try transactAlone(on: database, givesBackPages: false, body) }
            // The reserve needs the space of the log again. If the log stays, the next writer empties it.
            defer { _ = try? emptyLog(of: database) }
            try database.execute(sql: "PRAGMA secure_delete = ON")
            if givesBack, case .success = result { giveBackManyPages(of: database, pagesPerStep: 32) }
            return try result.get()
        }
    }

    /// Cuts the pages off the database that the transaction has freed, if they are few. A page that is free is one that
    /// SQLite writes over without looking: a damaged list of them, which names another page, costs whatever is there. So
    /// no such list is left behind.
    private func giveBackFewPages(of database: Database) throws {
        let free = try freePageCount(database)
        guard 0 < free, free <= pagesGivenBackAtOnce, try canGiveBackPages(database) else { return }
        try database.execute(sql: "PRAGMA incremental_vacuum")
    }

    /// The same when there are many, in further transactions, so that other programs write in between. What is removed
    /// stays removed if that fails: the next write goes on with it.
    private func giveBackManyPages(of database: Database, pagesPerStep: Int? = nil) {
        do {
            let step = pagesPerStep ?? pagesGivenBackAtOnce
            var free = try freePageCount(database)
            guard free > 0, try canGiveBackPages(database) else { return }
            try writeQueue.withoutWaiting {
                while free > 0 {
                    try transact(on: database, givesBackPages: false) { database in
                        try database.execute(sql: "PRAGMA incremental_vacuum(\(step))")
                    }
                    // The file becomes shorter when the log is moved into it.
                    _ = try database.checkpoint(pagesPerStep == nil ? .passive : .truncate)
                    let left = try freePageCount(database)
                    guard left < free else { break }
                    free = left
                }
            }
        } catch {
            logger.debug(
                "free pages are left in the database",
                metadata: ["reason": "\(KeychainError(engineFailure: error).code)"])
        }
    }

    private func freePageCount(_ database: Database) throws -> Int {
        try Int.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
    }

    /// Has a database that has no tables yet, or is compacted next, note where its pages belong, without which none can be
    /// given back (sqlite.org/pragma.html#pragma_auto_vacuum). Early stores do not.
    static func prepareToGiveBackPages(_ database: Database) throws {
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
    }

    private func canGiveBackPages(_ database: Database) throws -> Bool {
        let incremental = 2
        return try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") == incremental
    }

    /// Writes the database anew without free pages. It needs as much free space as the database has, twice.
    func compact() throws {
        try withWriter { database in
            writeQueue.letOthersPass()
            defer { writeQueue.leave() }
            try requireInPlace(database)
            try requireVersion(try Int.fetchOne(database, sql: "PRAGMA user_version"))
            try Self.prepareToGiveBackPages(database)
            try database.execute(sql: "VACUUM")
            _ = try database.checkpoint(.truncate)
        }
    }

    /// How many bytes of the database are free.
    func freeBytes() throws -> Int64 {
        try withReader { reader in
            try reader.number("PRAGMA freelist_count")! * reader.number("PRAGMA page_size")!  // each has one row
        }
    }
}

/// The statements of the connection that writes, kept by GRDB.
private struct WriterStatements: StatementSource {
    let database: Database

    func statement(_ statement: StoreStatement) throws -> RawStatement {
        RawStatement(try database.cachedStatement(sql: statement.sql).sqliteStatement)
    }
}
