package import FoundationEssentials
package import KeychainCrypto

extension StoreConnection {
    /// The first item at or after `id` that has an entry for the token.
    func firstItem(with token: IndexToken, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByEntry)
        try statement.bind(token, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number(atLeast: id)
    }

    /// The first item at or after `id` that lives in the home.
    func firstItem(inHome home: Int64, from id: Int64) throws -> Int64? {
        let statement = try statement(.itemByHome)
        try statement.bind(home, at: 1)
        try statement.bind(id, at: 2)
        return try statement.number(atLeast: id)
    }

    package func item(withUUID identifier: UUID) throws -> Int64? {
        let statement = try statement(.itemByUUID)
        try statement.bind(identifier, at: 1)
        return try statement.number()
    }

    package func item(withUniqueness token: IndexToken) throws -> Int64? {
        let statement = try statement(.itemByUniqueness)
        try statement.bind(token, at: 1)
        return try statement.number()
    }

    /// Calls `body` with the row of an item, if the item exists. The row's bytes are valid only within.
    package func withRow<R>(_ id: Int64, secrets: Bool = false, _ body: (StoredRow) throws -> R) throws -> R? {
        let statement = try statement(secrets ? .row : .rowWithoutSecret)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return try body(StoredRow(id: id, statement: statement))
    }
}
