internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

extension StoreConnection {
    /// The pages of a larger row are not read again soon.
    private static let mostKeptBytes = 256 << 10

    package func insert(_ row: SealedRow) throws {
        let statement = try statement(.insertItem)
        try statement.bind(row.uuid, at: 1)
        try bind(row, to: statement, from: 2)
        try insertEntries(row.tokens, for: try statement.inserted())
    }

    /// Replaces everything of an item but its id and uuid.
    func replace(_ id: Int64, with row: SealedRow) throws {
        try deleteEntries(of: id)
        let statement = try statement(.updateItem)
        let next = try bind(row, to: statement, from: 1)
        try statement.bind(id, at: next)
        try statement.run()
        try insertEntries(row.tokens, for: id)
    }

    package func delete(_ id: Int64) throws {
        try deleteEntries(of: id)
        let statement = try statement(.deleteItem)
        try statement.bind(id, at: 1)
        try statement.run()
    }

    @discardableResult
    private func bind(_ row: SealedRow, to statement: SQLiteStatement, from first: Int32) throws -> Int32 {
        if row.metadata.box.count + (row.secret?.box.count ?? 0) > Self.mostKeptBytes { hasWrittenLargeRow = true }
        try statement.bind(try makeHome(row.home, row.indexer), at: first)
        try statement.bind(Int64(row.home.generation), at: first + 1)
        try statement.bind(row.version, at: first + 2)
        try statement.bind(row.uniqueness, at: first + 3)
        try statement.bind(Data(row.accessControl.canonicalBytes), at: first + 4)
        try statement.bind(row.tokens.joinedBytes, at: first + 5)
        try statement.bind(row.metadata.wrappedKey, at: first + 6)
        try statement.bind(row.metadata.box, at: first + 7)
        try statement.bind(row.secret?.wrappedKey, at: first + 8)
        try statement.bind(row.secret?.box, at: first + 9)
        try statement.bind(row.expires.map { Data($0.storedBytes) }, at: first + 10)
        return first + 11
    }

    private func insertEntries(_ tokens: [IndexToken], for id: Int64) throws {
        let statement = try statement(.insertEntry)
        for token in tokens {
            try statement.bind(token, at: 1)
            try statement.bind(id, at: 2)
            try statement.run()
        }
    }

    /// Removes an item's entries by the list its row keeps, so that no key is needed.
    private func deleteEntries(of id: Int64) throws {
        let tokens = try withRow(id) { [IndexToken](joinedBytes: $0.tokens) } ?? []
        let statement = try statement(.deleteEntry)
        for token in tokens {
            try statement.bind(token, at: 1)
            try statement.bind(id, at: 2)
            try statement.run()
        }
    }
}

extension [IndexToken] {
    var joinedBytes: Data {
        reduce(into: Data(capacity: count * IndexToken.byteCount)) { data, token in
            token.withUnsafeBytes { data.append(contentsOf: $0) }
        }
    }

    /// An incomplete token at the end is left out.
    init(joinedBytes bytes: UnsafeRawBufferPointer) {
        self = stride(from: 0, through: bytes.count - IndexToken.byteCount, by: IndexToken.byteCount).compactMap {
            IndexToken(bytes: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + IndexToken.byteCount]))
        }
    }
}
