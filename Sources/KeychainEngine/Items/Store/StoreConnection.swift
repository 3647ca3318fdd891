internal import KeychainModel

/// The home with the highest id, which is the newest.
struct NewestHome {
    var id: Int64 = 0
    var generation: UInt32 = 0
}

/// A connection to the database of a store, and the statements that are run on its tables, each prepared once.
package final class StoreConnection: @unchecked Sendable {  // the store gives it to one thread at a time
    let database: SQLiteConnection
    /// The statements by number, in plain memory, since every look-up needs many of them.
    private let statements = UnsafeMutableBufferPointer<SQLiteStatement?>.allocate(
        capacity: StoreStatement.allCases.count)
    let homes = HomeCache()
    /// The newest home of the present snapshot; nil in a write.
    private(set) var newestHome: NewestHome?
    /// Whether a large row was written, whose pages crowd out those of the index and are not read again soon.
    var hasWrittenLargeRow = false

    init(_ database: SQLiteConnection) {
        self.database = database
        statements.initialize(repeating: nil)
    }

    deinit {
        for case let statement? in statements { statement.finalize() }
        statements.deallocate()
    }

    /// - Throws: `.internalFailure` if the statement is at a row of another use, whose bytes would become invalid while
    ///   they are read.
    func statement(_ statement: StoreStatement) throws(KeychainError) -> SQLiteStatement {
        if let prepared = statements[statement.rawValue] {
            guard !prepared.isAtRow else {
                throw KeychainError(.internalFailure, message: "the statement '\(statement)' is used within itself")
            }
            return prepared
        }
        let prepared = try database.prepare(statement.sql)
        statements[statement.rawValue] = prepared
        return prepared
    }

    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        // A snapshot begins with the first step of a statement and lasts until its reset. This statement is needed
        // anyhow, and spares a BEGIN and a COMMIT.
        let anchor = try statement(.newestHome)
        defer { anchor.reset() }
        var newest = NewestHome()
        if try anchor.step() {
            newest = NewestHome(id: anchor.integer(0), generation: UInt32(exactly: anchor.integer(1)) ?? .max)
        }
        newestHome = newest
        return try body(self)
    }

    /// No row of the snapshot is listed under newer keys.
    var newestHomeGeneration: UInt32 { newestHome?.generation ?? 0 }

    /// Runs `body` in a transaction, beside which no other connection writes, and commits. If either fails, nothing is
    /// changed.
    func transaction<R>(_ body: () throws -> R) throws -> R {
        try statement(.begin).run()
        do {
            let result = try body()
            try requireTransaction()
            try statement(.commit).run()
            return result
        } catch {
            // SQLite ends a transaction by itself after some errors. The error at hand is the one that counts.
            if database.isInTransaction { try? database.run("ROLLBACK") }
            throw error
        }
    }

    /// Frees the memory of the pages of large rows.
    func forgetLargeRows() {
        if hasWrittenLargeRow { database.releaseMemory() }
        hasWrittenLargeRow = false
    }

    /// A statement outside of the transaction would be a transaction of its own.
    func requireTransaction() throws(KeychainError) {
        guard database.isInTransaction else { throw .abortedTransaction }
    }
}
