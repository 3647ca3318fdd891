internal import KeychainModel

/// How large a row is. SQLite tells it without reading what the row holds.
struct RowSize {
    static let select = "SELECT home, length(metadata), length(secret) FROM item WHERE id = ?"

    let home: Int64
    private let metadata: Int
    private let secret: Int

    fileprivate init(_ statement: SQLiteStatement) {
        home = statement.integer(0)
        metadata = Int(statement.integer(1))
        secret = Int(statement.integer(2))
    }

    /// How many bytes are read of it. What opens is a little smaller.
    func stored(withSecret: Bool) -> Int { metadata + (withSecret ? secret : 0) }
}

extension StoreConnection {
    /// nil: there is no such row.
    func size(ofRow id: Int64) throws -> RowSize? {
        let statement = try statement(.rowSize)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        return try statement.step() ? RowSize(statement) : nil
    }
}
