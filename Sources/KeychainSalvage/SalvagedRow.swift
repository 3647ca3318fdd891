internal import FoundationEssentials
internal import KeychainEngine
internal import KeychainModel

/// A value of a record (sqlite.org/fileformat.html, section 2.1).
enum LooseValue {
    case null
    case integer(Int64)
    case bytes(Data)
}

/// A record that has the shape of a row of the table `item` (docs/store-format.md).
struct SalvagedRow {
    /// Rows that early programs wrote have no date of expiry, not even an absent one.
    static let columnCounts = 12...13

    let uuid: Data
    let generation: Int64
    let version: Int64
    let access: Data
    let tokens: Data
    let metadataKey: Data
    let metadata: Data
    /// nil for an item without a secret.
    let secretKey: Data?
    let secret: Data?
    /// nil for an item that never expires.
    let expires: Data?

    /// nil for any other record.
    init?(_ values: [LooseValue]) {
        guard Self.columnCounts.contains(values.count), case .bytes(let uuid) = values[1], uuid.count == 16,
            case .integer(let generation) = values[3], case .integer(let version) = values[4],
            case .bytes(let access) = values[6], case .bytes(let tokens) = values[7],
            case .bytes(let metadataKey) = values[8], case .bytes(let metadata) = values[9]
        else { return nil }
        switch (values[10], values[11]) {
        case (.null, .null): (secretKey, secret) = (nil, nil)
        case (.bytes(let key), .bytes(let box)): (secretKey, secret) = (key, box)
        default: return nil
        }
        switch values.count > 12 ? values[12] : .null {
        case .null: expires = nil
        case .bytes(let date): expires = date
        case .integer: return nil
        }
        self.uuid = uuid
        self.generation = generation
        self.version = version
        self.access = access
        self.tokens = tokens
        self.metadataKey = metadataKey
        self.metadata = metadata
    }
}

/// Gives rows that lie in no table the form of stored rows: an empty database returns the values bound to a statement.
final class RowEcho {
    private let database: SQLiteConnection
    private let statement: SQLiteStatement

    init() throws(KeychainError) {
        database = try SQLiteConnection.inMemory()
        // The columns of ``StoredRow``.
        statement = try database.prepare("SELECT ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?")
    }

    deinit { statement.finalize() }

    /// Calls `body` with the row as if it lay in a table.
    func withStoredRow<R>(_ row: SalvagedRow, _ body: (StoredRow) throws -> R) throws -> R {
        try statement.bind(row.uuid, at: 1)
        try statement.bind(row.generation, at: 2)
        try statement.bind(row.version, at: 3)
        try statement.bind(row.access, at: 4)
        try statement.bind(row.tokens, at: 5)
        try statement.bind(row.metadataKey, at: 6)
        try statement.bind(row.metadata, at: 7)
        try statement.bind(row.secretKey, at: 8)
        try statement.bind(row.secret, at: 9)
        try statement.bind(row.expires, at: 10)
        defer { statement.reset() }
        guard try statement.step() else {
            throw KeychainError(.internalFailure, message: "the database gave back no row")
        }
        return try body(StoredRow(id: 0, statement: statement))
    }
}
