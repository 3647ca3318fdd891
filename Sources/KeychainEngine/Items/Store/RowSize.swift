internal import KeychainModel

/// The size of a row, which SQLite knows without reading the content.
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

    /// The number of bytes that are read. The opened item is a little smaller.
    func stored(withSecret: Bool) -> Int { metadata + (withSecret ? secret : 0) }
}

extension StoreConnection {
    /// nil if there is no such row.
    func size(ofRow id: Int64) throws -> RowSize? {
        let statement = try statement(.rowSize)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        return try statement.step() ? RowSize(statement) : nil
    }
}
