import Foundation
import GRDB
import KeychainModel

@testable import KeychainEngine

/// What lies in the rows of a store, as someone sees it who has the file and no key.
struct StoredKeys: Equatable {
    var metadata: Data
    var secret: Data?
    var tokens: Data
}

struct Generations: Equatable {
    var rows: Set<Int64>
    var homes: Set<Int64>
}

extension Engine {
    private var databaseURL: URL { configuration.storeDirectory.appendingPathComponent("keychain.db") }

    private func rows(_ sql: String) throws -> [GRDB.Row] {
        let queue = try DatabaseQueue(path: databaseURL.path)
        let rows = try queue.read { try GRDB.Row.fetchAll($0, sql: sql) }
        try queue.close()
        return rows
    }

    /// By the row's id.
    func wrappedKeys() throws -> [Int64: StoredKeys] {
        let rows = try rows("SELECT id, metadata_key, secret_key, tokens FROM item")
        return Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (row["id"], StoredKeys(metadata: row["metadata_key"], secret: row["secret_key"], tokens: row["tokens"]))
            })
    }

    /// Everything of every row.
    func databaseRows() throws -> [GRDB.Row] { try rows("SELECT * FROM item ORDER BY id") }

    /// The generations of keys that rows and homes are under.
    func generations() throws -> Generations {
        Generations(
            rows: Set(try rows("SELECT DISTINCT generation FROM item").map { $0[0] }),
            homes: Set(try rows("SELECT DISTINCT generation FROM home").map { $0[0] }))
    }
}
