internal import CKeychainSQLite
package import Foundation

/// What a column of a row holds.
package enum SQLValue: Hashable, Sendable {
    case null, integer(Int64), real(Double), text(String), blob(Data)

    package var number: Int64? { if case .integer(let number) = self { number } else { nil } }
    package var bytes: Data? { if case .blob(let bytes) = self { bytes } else { nil } }
}

extension SQLValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// A row, by the names of its columns.
package typealias SQLRow = [String: SQLValue]

/// A connection of somebody who has the file of a database and no key: nothing of the engine's own is between.
package final class TestDatabase {
    /// What SQLite says is wrong.
    package struct Failure: Error {
        /// SQLite's own, without its extension.
        package let code: Int32
        let message: String
        package var isRefusedValue: Bool { [SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(code) }
    }

    private let handle: OpaquePointer

    /// Makes the database, if it is not there.
    package init(_ url: URL) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open(url.path, &opened)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw Failure(code: code, message: "cannot be opened")
        }
        handle = opened
        sqlite3_busy_timeout(handle, 5_000)
    }

    deinit { sqlite3_close_v2(handle) }

    private func check(_ code: Int32) throws {
        guard [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else {
            throw Failure(code: code & 0xff, message: String(cString: sqlite3_errmsg(handle)))
        }
    }

    /// Runs statements.
    package func run(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Runs `body` in a transaction; what it did is undone when the connection is closed, if it throws.
    package func transaction(_ body: () throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        try body()
        try run("COMMIT")
    }

    /// Runs one statement.
    @discardableResult
    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws -> [SQLRow] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        for (index, argument) in zip(Int32(1)..., arguments) { try bind(argument, to: statement, at: index) }
        var rows: [SQLRow] = []
        while true {
            let code = sqlite3_step(statement)
            try check(code)
            guard code == SQLITE_ROW else { return rows }
            let columns = (0..<sqlite3_column_count(statement)).map {
                (String(cString: sqlite3_column_name(statement, $0)), value(of: statement, at: $0))
            }
            rows.append(SQLRow(columns) { first, _ in first })
        }
    }

    private func bind(_ value: SQLValue, to statement: OpaquePointer?, at index: Int32) throws {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .real(let number): sqlite3_bind_double(statement, index, number)
            case .text(let text): sqlite3_bind_text(statement, index, text, -1, transient)
            case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
            case .blob(let bytes):
                bytes.withUnsafeBytes {
                    sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), transient)
                }
            }
        try check(code)
    }

    private func value(of statement: OpaquePointer?, at column: Int32) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: .text(String(cString: sqlite3_column_text(statement, column)))
        case SQLITE_BLOB:
            .blob(
                sqlite3_column_blob(statement, column).map {
                    Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column)))
                } ?? Data())
        default: .null
        }
    }
}
