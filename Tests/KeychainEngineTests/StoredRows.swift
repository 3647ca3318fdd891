import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

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

    private func rows(_ sql: String) throws -> [SQLRow] { try TestDatabase(databaseURL).rows(sql) }

    /// By the row's id.
    func wrappedKeys() throws -> [Int64: StoredKeys] {
        let rows = try rows("SELECT id, metadata_key, secret_key, tokens FROM item")
        return try Dictionary(
            uniqueKeysWithValues: rows.map { row in
                let keys = StoredKeys(
                    metadata: try #require(row["metadata_key"]?.bytes), secret: row["secret_key"]?.bytes,
                    tokens: try #require(row["tokens"]?.bytes))
                return (try #require(row["id"]?.number), keys)
            })
    }

    /// Everything of every row.
    func databaseRows() throws -> [SQLRow] { try rows("SELECT * FROM item ORDER BY id") }

    /// The generations of keys that rows and homes are under.
    func generations() throws -> Generations {
        Generations(
            rows: Set(try rows("SELECT DISTINCT generation FROM item").compactMap { $0["generation"]?.number }),
            homes: Set(try rows("SELECT DISTINCT generation FROM home").compactMap { $0["generation"]?.number }))
    }
}
