internal import Foundation
internal import GRDBSQLite
internal import KeychainModel

/// A connection that cannot write, by SQLite's own interface, used by one thread at a time.
///
/// Through GRDB a look-up costs more than twice as much: it checks the schema and crosses queues at every read
/// (docs/decisions/007-readers-without-grdb.md). Writes go through GRDB.
final class Reader: StatementSource, @unchecked Sendable {  // the pool gives it to one thread at a time
    private let handle: OpaquePointer
    /// By the statement's number. Plain memory, since looking one up is done many times in a look-up.
    private let statements = UnsafeMutableBufferPointer<RawStatement?>.allocate(
        capacity: StoreStatement.allCases.count)
    let homes = HomeCache()

    init(_ url: URL, busyTimeout: TimeInterval) throws(KeychainError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(url.path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let error = KeychainError(sqliteCode: code, detail: opened.flatMap(Self.message))
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        statements.initialize(repeating: nil)
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(busyTimeout * 1000))
        // What an edited schema names is not run.
        let result = sqlite3_exec(handle, "PRAGMA trusted_schema = OFF", nil, nil, nil)
        guard result == SQLITE_OK else { throw KeychainError(sqliteCode: result, detail: Self.message(handle)) }
    }

    deinit {
        for case let statement? in statements { statement.finalize() }
        statements.deallocate()
        sqlite3_close_v2(handle)
    }

    func statement(_ statement: StoreStatement) throws(KeychainError) -> RawStatement {
        if let prepared = statements[statement.rawValue] { return prepared }
        let prepared = try prepare(statement.sql)
        statements[statement.rawValue] = prepared
        return prepared
    }

    /// A statement of its own, which the caller finalizes.
    func prepare(_ sql: String) throws(KeychainError) -> RawStatement {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw KeychainError(sqliteCode: code, detail: Self.message(handle))
        }
        return RawStatement(pointer)
    }

    /// The rows of a statement that is run once.
    func rows<R>(_ sql: String, _ row: (RawStatement) throws -> R) throws -> [R] {
        let statement = try prepare(sql)
        defer { statement.finalize() }
        var rows: [R] = []
        while try statement.step() { rows.append(try row(statement)) }
        return rows
    }

    func number(_ sql: String) throws -> Int64? {
        try rows(sql) { $0.integer(0) }.first
    }

    private static func message(_ handle: OpaquePointer) -> String? {
        sqlite3_errmsg(handle).map { String(cString: $0) }
    }
}

/// Idle readers. As many are made as there are threads that read at once.
final class ReaderPool: Sendable {
    /// More than this are closed after use: a burst of threads should not hold files open for ever.
    private static let mostIdle = 8

    private let url: URL
    private let busyTimeout: TimeInterval
    private let idle: BriefLock<[Reader]>

    init(_ url: URL, busyTimeout: TimeInterval, first: Reader) {
        self.url = url
        self.busyTimeout = busyTimeout
        idle = BriefLock([first])
    }

    func take() throws(KeychainError) -> Reader {
        if let reader = idle.withLock({ $0.popLast() }) { return reader }
        return try Reader(url, busyTimeout: busyTimeout)
    }

    func give(_ reader: Reader) {
        idle.withLock { if $0.count < Self.mostIdle { $0.append(reader) } }
    }
}
