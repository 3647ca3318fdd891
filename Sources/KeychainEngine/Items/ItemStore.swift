internal import Foundation
internal import GRDB
internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The database of a store: readers side by side, one writer at a time, every commit on the disk before it is reported.
final class ItemStore: Sendable {
    let url: URL
    let storeID: UUID
    let homes = HomeCache()
    private let pool: DatabasePool
    private let hasWritten = Atomic(false)

    init(url: URL, storeID: UUID, pool: DatabasePool) {
        self.url = url
        self.storeID = storeID
        self.pool = pool
    }

    /// Runs `body` on one snapshot of the store.
    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        // GRDB's `read` opens and checks a transaction through its general path, which costs more than a
        // whole look-up. A transaction by cached statement gives the same snapshot.
        try pool.unsafeRead { database in
            let connection = StoreConnection(database, store: self, isWriting: false)
            try connection.statement("BEGIN DEFERRED").run()
            let result: R
            do {
                result = try body(connection)
            } catch {
                // The failure that counts is the first one; a transaction that only read has nothing to lose.
                try? connection.statement("ROLLBACK").run()
                throw error
            }
            try connection.statement("COMMIT").run()
            return result
        }
    }

    /// Runs `body` in a transaction that no other writer shares. If it throws, nothing is changed.
    func write<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        hasWritten.store(true, ordering: .relaxed)
        return try pool.writeWithoutTransaction { database in
            var result: R?
            try database.inTransaction(.immediate) {
                result = try body(StoreConnection(database, store: self, isWriting: true))
                return .commit
            }
            return result!
        }
    }

    func emptyLog() throws {
        guard hasWritten.load(ordering: .relaxed) else { return }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    /// What SQLite itself finds wrong with its file; empty if nothing.
    func integrityProblems() throws -> [String] {
        try pool.read { database in
            try String.fetchAll(database, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }
        }
    }

    /// How SQLite would run a statement.
    func plan(of statement: String) throws -> [String] {
        try pool.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(statement)").map { $0["detail"] }
        }
    }
}
