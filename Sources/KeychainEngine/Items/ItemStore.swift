internal import Foundation
internal import GRDB
internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The database of a store: readers side by side, one writer at a time, every commit on the disk before it is reported.
final class ItemStore: Sendable {
    let url: URL
    let storeID: UUID
    private let pool: DatabasePool
    /// Rows of the table `home` seen so far. They are never removed, so one that was seen stays true.
    private let homes = Mutex<[Home: Int64]>([:])

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
            defer {
                // A read transaction has nothing to lose: ending it can fail only if it never began.
                try? connection.statement("COMMIT").run()
            }
            return try body(connection)
        }
    }

    /// Runs `body` in a transaction that no other writer shares. If it throws, nothing is changed.
    func write<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try pool.writeWithoutTransaction { database in
            var result: R?
            try database.inTransaction(.immediate) {
                result = try body(StoreConnection(database, store: self, isWriting: true))
                return .commit
            }
            return result!
        }
    }

    func knownHome(_ home: Home) -> Int64? { homes.withLock { $0[home] } }
    func remember(_ home: Home, _ id: Int64) { homes.withLock { $0[home] = id } }
}

/// Where items of one class, access group and synchronizability are listed, per index tier.
struct Home: Sendable, Hashable {
    var itemClass: ItemClass
    var tier: IndexTier
    var accessGroup: String
    var synchronizable: Bool
}
