internal import KeychainCrypto

/// The rows that a search must look at, by index alone and in the order of their ids.
///
/// A search for several attributes leaps: it goes round their entries, each time to the first one at or after the
/// highest id seen, until all agree. The search takes no more steps than the rarest value has rows.
struct CandidateSearch {
    let connection: StoreConnection
    /// The homes in which a candidate may live; not empty.
    let homes: [Int64]
    /// The entries that a candidate must have, the most selective one first.
    let tokens: [IndexToken]
    /// Whether the rows' secrets are read from the disk.
    let wantsSecrets: Bool

    /// Whether a row that was not found by the index has the entries too.
    func isListed(_ row: StoredRow) -> Bool {
        tokens.isEmpty || Set(tokens).isSubset(of: [IndexToken](joinedBytes: row.tokens))
    }

    /// The first candidate at or after `id`. Its row may name another home, which an entry does not tell;
    /// ``next(inHomesFrom:)`` goes on from there.
    func next(from id: Int64) throws -> Int64? {
        tokens.isEmpty ? try firstItemInHomes(from: id) : try firstItemWithAllTokens(from: id)
    }

    /// The next candidate after a row that turned out to live in another home.
    func next(inHomesFrom id: Int64) throws -> Int64? {
        try firstItemInHomes(from: id).flatMap(next(from:))
    }

    private func firstItemWithAllTokens(from id: Int64) throws -> Int64? {
        var candidate = id
        var agreeing = 0
        var place = 0
        while agreeing < tokens.count {
            guard let found = try connection.firstItem(with: tokens[place], from: candidate) else { return nil }
            agreeing = found == candidate && agreeing > 0 ? agreeing + 1 : 1
            candidate = found
            place = (place + 1) % tokens.count
        }
        return candidate
    }

    private func firstItemInHomes(from id: Int64) throws -> Int64? {
        try homes.compactMap { try connection.firstItem(inHome: $0, from: id) }.min()
    }
}
