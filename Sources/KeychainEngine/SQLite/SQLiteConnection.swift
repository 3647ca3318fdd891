internal import CKeychainSQLite
internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem

/// A connection to a database, by SQLite's own interface.
package final class SQLiteConnection: @unchecked Sendable {  // its owner gives it to one thread at a time
    let handle: OpaquePointer
    private var shouldTryAgain: ((Int) -> Bool)?

    /// - Throws: `.notAvailable` also if one of the database's files is no regular file.
    convenience init(_ url: URL, mayWrite: Bool = false) throws(KeychainError) {
        try OwnFile.requireRegularDatabase(url)
        try self.init(url.path, mayWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY)
    }

    /// A new, empty database that can be written.
    package static func inMemory() throws(KeychainError) -> SQLiteConnection {
        try SQLiteConnection(":memory:", SQLITE_OPEN_READWRITE)
    }

    private init(_ path: String, _ flags: Int32) throws(KeychainError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let error = KeychainError(sqliteCode: code, detail: opened.flatMap(Self.message))
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        // SQLite must not run what an edited schema names.
        try check(ckeychain_sqlite_harden(handle))
    }

    /// The owner has finalized every statement.
    deinit { sqlite3_close_v2(handle) }

    // MARK: Statements

    /// A statement that the caller finalizes.
    package func prepare(_ sql: String) throws(KeychainError) -> SQLiteStatement {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw KeychainError(sqliteCode: code, detail: Self.message(handle))
        }
        return SQLiteStatement(pointer)
    }

    /// Runs statements and drops their rows.
    func run(_ sql: String) throws(KeychainError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// The rows of a statement that is run once.
    func rows<R>(_ sql: String, _ row: (SQLiteStatement) throws(KeychainError) -> R) throws(KeychainError) -> [R] {
        let statement = try prepare(sql)
        defer { statement.finalize() }
        var rows: [R] = []
        while try statement.step() { rows.append(try row(statement)) }
        return rows
    }

    func number(_ sql: String) throws(KeychainError) -> Int64? { try rows(sql) { $0.integer(0) }.first }

    // MARK: The schema

    /// Reads the schema, before any other statement.
    ///
    /// - Throws: as ``withLittleWork(_:)``.
    func loadSchema() throws(KeychainError) {
        try withLittleWork { () throws(KeychainError) in try run("SELECT 1 FROM sqlite_master WHERE 0") }
    }

    /// Runs statements that a store of ours answers at once. An edited store can lead SQLite through the same pages
    /// without end, or have it compute columns of its own tables: here both end soon.
    ///
    /// - Throws: `.notAvailable`, as damage, if the work is too much; what `body` throws.
    func withLittleWork<R>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
        // Our schema takes hundreds of steps, and its longest text has less than a thousand bytes.
        sqlite3_progress_handler(handle, 20_000, { _ in 1 }, nil)
        let former = [(SQLITE_LIMIT_LENGTH, 4_096), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4)].map { limit, value in
            (limit, sqlite3_limit(handle, limit, Int32(value)))
        }
        defer {
            for (limit, value) in former { sqlite3_limit(handle, limit, value) }
            sqlite3_progress_handler(handle, 0, nil, nil)
        }
        do throws(KeychainError) {
            return try body()
        } catch {
            guard [SQLITE_INTERRUPT, SQLITE_TOOBIG].contains(sqlite3_errcode(handle) & 0xff) else { throw error }
            throw .damagedDatabase("its schema takes more work than one of ours")
        }
    }

    // MARK: Waiting

    /// Sets how long a statement waits for a lock of another connection.
    func setBusyTimeout(_ seconds: TimeInterval) { sqlite3_busy_timeout(handle, Int32(seconds * 1000)) }

    /// - Parameter shouldTryAgain: Asked while another connection has a lock, with the number of times that it was
    ///   asked before.
    func setBusyHandler(_ shouldTryAgain: @escaping (Int) -> Bool) {
        self.shouldTryAgain = shouldTryAgain
        sqlite3_busy_handler(
            handle,
            { context, tries in
                let connection = Unmanaged<SQLiteConnection>.fromOpaque(context!).takeUnretainedValue()
                return connection.shouldTryAgain!(Int(tries)) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    // MARK: Transactions and the log

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Moves the log into the database as soon as a transaction leaves so many pages in it.
    func setPagesBetweenCheckpoints(_ pages: Int32) { sqlite3_wal_autocheckpoint(handle, pages) }

    /// Moves the log into the database.
    ///
    /// - Parameter isWhole: Whether all of the log is moved and the log is cut to nothing; otherwise pages that other
    ///   connections use stay.
    func checkpoint(isWhole: Bool = true) throws(KeychainError) {
        let mode = isWhole ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        try check(sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil))
    }

    // MARK: The file

    /// Whether the database's file is still where it was opened.
    var isInPlace: Bool {
        var hasMoved: CInt = 0
        return sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved == 0
    }

    var isReadOnly: Bool { sqlite3_db_readonly(handle, nil) == 1 }

    /// Frees the memory of cached pages.
    func releaseMemory() { sqlite3_db_release_memory(handle) }

    // MARK: Failures

    private func check(_ code: Int32) throws(KeychainError) {
        guard code == SQLITE_OK else { throw KeychainError(sqliteCode: code, detail: Self.message(handle)) }
    }

    private static func message(_ handle: OpaquePointer) -> String? {
        sqlite3_errmsg(handle).map { String(cString: $0) }
    }
}
