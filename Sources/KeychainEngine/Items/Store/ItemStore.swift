internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The database of a store: readers side by side, one writer at a time, every commit on the disk before it is reported.
final class ItemStore: Sendable {
    let url: URL
    let storeID: UUID
    private let schema: StoreSchema
    private let verifiedEpoch = BriefLock<UInt64?>(nil)
    private let readers: ReaderPool
    private let writeQueue: WriteQueue
    let groupCommit: GroupCommit
    private let openWriter: @Sendable () throws -> DatabaseQueue
    /// Opened by the first write: many a process only reads.
    private let writer = Mutex<DatabaseQueue?>(nil)
    /// The last to go, after every connection.
    private let openMark: OpenStores.Mark

    init(
        url: URL, storeID: UUID, schema: StoreSchema, readers: ReaderPool, writeQueue: WriteQueue,
        groupCommit: GroupCommit, openMark: OpenStores.Mark,
        openWriter: @escaping @Sendable () throws -> DatabaseQueue
    ) {
        self.writeQueue = writeQueue
        self.groupCommit = groupCommit
        self.url = url
        self.openMark = openMark
        self.storeID = storeID
        self.schema = schema
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
            try withWriter { database in try transact(on: database, writes) }
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
            var result: R?
            try transact(on: database) { database in
                result = try body(StoreConnection(WriterStatements(database: database)))
            }
            return result!
        }
    }

    /// Runs `body` in a transaction that no other process shares, and commits; rolls back if it throws.
    private func transact(on database: Database, _ body: (Database) throws -> Void) throws {
        writeQueue.letOthersPass()
        defer { writeQueue.leave() }
        try database.inTransaction(.immediate) {
            writeQueue.leave()
            try requireInPlace(database)
            try requireVersion(try Int.fetchOne(database, sql: "PRAGMA user_version"))
            try body(database)
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
        _ = try writer.writeWithoutTransaction { database in
            // Neither the end of a process nor a lock waits for another process that is reading.
            try writeQueue.withoutWaiting { try database.checkpoint(.truncate) }
        }
    }

    /// What SQLite itself finds wrong with its file; empty if nothing.
    func integrityProblems() throws -> [String] {
        try withReader { reader in
            try reader.rows("PRAGMA integrity_check(20)") { $0.text(0) }.filter { $0 != "ok" }
        }
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
        let writer = try writer.withLock { writer in
            if let writer { return writer }
            let opened = try openWriter()
            writer = opened
            return opened
        }
        return try writer.writeWithoutTransaction(body)
    }
}

/// The statements of the connection that writes, kept by GRDB.
private struct WriterStatements: StatementSource {
    let database: Database

    func statement(_ statement: StoreStatement) throws -> RawStatement {
        RawStatement(try database.cachedStatement(sql: statement.sql).sqliteStatement)
    }
}
