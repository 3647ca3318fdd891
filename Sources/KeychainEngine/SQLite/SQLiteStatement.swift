internal import CKeychainSQLite
package import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel

/// A prepared statement.
///
/// Bytes that a column hands out are valid until the next `step` or `reset`.
package struct SQLiteStatement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer?

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        connection = sqlite3_db_handle(pointer)
    }

    /// SQLite copies the bytes, so they need not outlive the call.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    package func bind(_ value: Int64, at index: Int32) throws(KeychainError) {
        try check(sqlite3_bind_int64(pointer, index, value))
    }

    package func bind(_ data: Data?, at index: Int32) throws(KeychainError) {
        try check(data?.withUnsafeBytes { bind($0, index) } ?? sqlite3_bind_null(pointer, index))
    }

    func bind(_ token: IndexToken, at index: Int32) throws(KeychainError) {
        try check(withUnsafeBytes(of: token.words) { bind($0, index) })
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, _ index: Int32) -> Int32 {
        // A null pointer would bind NULL rather than no bytes.
        let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
        return sqlite3_bind_blob64(pointer, index, start, UInt64(bytes.count), Self.transient)
    }

    func bind(_ identifier: UUID, at index: Int32) throws(KeychainError) {
        try bind(identifier.bytes, at: index)
    }

    /// Goes to the next row. Returns false if there is none.
    package func step() throws(KeychainError) -> Bool {
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = failure(code)
            sqlite3_reset(pointer)
            throw error
        }
    }

    package func reset() { sqlite3_reset(pointer) }

    /// Whether the statement stands at a row, so that bytes of the row may be in use.
    var isAtRow: Bool { sqlite3_stmt_busy(pointer) != 0 }

    /// Calls `body` with the statement at each of its rows.
    func forEachRow(_ body: () -> Void) throws(KeychainError) {
        defer { reset() }
        while try step() { body() }
    }

    /// Ends the statement, which must not be used again.
    package func finalize() { sqlite3_finalize(pointer) }

    /// Executes a statement that gives no rows.
    func run() throws(KeychainError) {
        defer { reset() }
        while try step() {}
    }

    /// The id that a statement with `RETURNING id` gave a new row.
    func inserted() throws(KeychainError) -> Int64 {
        guard let id = try number() else {
            throw KeychainError(.internalFailure, message: "the database gave a new row no id")
        }
        return id
    }

    /// The first column of the first row, as a number.
    func number() throws(KeychainError) -> Int64? {
        defer { reset() }
        return try step() ? integer(0) : nil
    }

    /// The number of a statement that asks for the first number from `least` on; nil also if the value is no number:
    /// only an edited or damaged index leads to such a value, which sorts after all numbers.
    ///
    /// - Throws: `.notAvailable` for a smaller number: SQLite does not see that an index is out of order, and a search
    ///   that goes on from there would go round for ever.
    func number(atLeast least: Int64) throws(KeychainError) -> Int64? {
        defer { reset() }
        guard try step(), isNumber(0) else { return nil }
        guard integer(0) >= least else {
            throw KeychainError(sqliteCode: SQLITE_CORRUPT, detail: "an index is out of order")
        }
        return integer(0)
    }

    private func isNumber(_ column: Int32) -> Bool {
        let type = sqlite3_column_type(pointer, column)
        return type == SQLITE_INTEGER || type == SQLITE_FLOAT
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    func text(_ column: Int32) -> String { sqlite3_column_text(pointer, column).map { String(cString: $0) } ?? "" }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// nil if the value is no blob, as a text is none.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer? {
        sqlite3_column_type(pointer, column) == SQLITE_BLOB ? bytes(column) : nil
    }

    /// nil for NULL.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard !isNull(column) else { return nil }
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    private func check(_ code: Int32) throws(KeychainError) {
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: Int32) -> KeychainError {
        KeychainError(sqliteCode: code, detail: sqlite3_errmsg(connection).map { String(cString: $0) })
    }
}

extension UUID {
    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// nil unless the bytes are sixteen.
    init?(bytes: UnsafeRawBufferPointer?) {
        guard let bytes, bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
