internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

extension StoreConnection {
    /// The lowest generation of keys under which rows may be sealed.
    func sealingGeneration() throws -> UInt32 {
        UInt32(exactly: try statement(.sealingGeneration).number() ?? 0) ?? .max
    }

    func setSealingGeneration(_ generation: UInt32) throws {
        let statement = try statement(.setSealingGeneration)
        try statement.bind(Int64(generation), at: 1)
        try statement.run()
    }

    /// Whether keys of files were ever given out: then there may be files that no other store opens.
    func hasFiles() throws -> Bool { try statement(.fileMark).number() != nil }

    package func noteFiles() throws { try statement(.setFileMark).run() }

    /// The items that a removal of the passcode deletes, recorded while it was under way.
    func removal() throws -> Set<UUID> {
        let statement = try statement(.removal)
        defer { statement.reset() }
        guard try statement.step(), let bytes = statement.bytes(0) else { return [] }
        return Set(
            stride(from: 0, through: bytes.count - 16, by: 16).compactMap {
                UUID(bytes: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 16]))
            })
    }

    func setRemoval(_ items: [UUID]) throws {
        let statement = try statement(.setRemoval)
        try statement.bind(items.reduce(into: Data()) { $0 += $1.bytes }, at: 1)
        try statement.run()
    }

    func forgetRemoval() throws { try statement(.forgetRemoval).run() }

    /// The first item at or after `id` that is not under this generation of keys.
    func nextItem(from id: Int64, notUnder generation: UInt32) throws -> Int64? {
        let statement = try statement(.nextOutdatedItem)
        try statement.bind(id, at: 1)
        try statement.bind(Int64(generation), at: 2)
        return try statement.number(atLeast: id)
    }

    /// The items with an access control that `isMeant` accepts. Goes through all items.
    func items(where isMeant: (AccessControl) -> Bool) throws -> [Int64] {
        let all = try statement(.accessControls)
        var meant: [Data] = []
        try all.forEachRow {
            guard let bytes = all.bytes(0).map({ Data($0) }) else { return }
            // An unreadable access control is skipped.
            if let control = try? AccessControl(canonicalBytes: bytes), isMeant(control) { meant.append(bytes) }
        }
        let statement = try statement(.itemsByAccessControl)
        var ids: [Int64] = []
        for bytes in meant {
            try statement.bind(bytes, at: 1)
            try statement.forEachRow { ids.append(statement.integer(0)) }
        }
        return ids
    }

    /// The items whose secrets are sealed for the passcode's pair of keys. Goes through all items.
    func itemsSealedWithPasscode() throws -> [Int64] {
        try items(where: \.isSealedWithPasscode).filter { id in
            try withRow(id) { $0.secretKey.map(RowSealer.isConstrained(secretKey:)) == true } == true
        }
    }

    /// Replaces all of a row but its entries.
    func rewrap(_ id: Int64, with row: RewrappedRow) throws {
        let statement = try statement(.rewrapItem)
        try statement.bind(row.home, at: 1)
        try statement.bind(Int64(row.generation), at: 2)
        try statement.bind(row.uniqueness, at: 3)
        try statement.bind(row.tokens.joinedBytes, at: 4)
        try statement.bind(row.metadataKey, at: 5)
        try statement.bind(row.secretKey, at: 6)
        try statement.bind(id, at: 7)
        try statement.run()
    }

    /// Exchanges the entries of many rows, in the order of the index, so that each of its pages is changed once.
    func exchangeEntries(
        _ former: [(token: IndexToken, item: Int64)], for new: [(token: IndexToken, item: Int64)]
    ) throws {
        for (entries, kind) in [(former, StoreStatement.deleteEntry), (new, .insertEntry)] {
            let statement = try statement(kind)
            for entry in entries.sorted(by: { $0.token.precedes($1.token) }) {
                try statement.bind(entry.token, at: 1)
                try statement.bind(entry.item, at: 2)
                try statement.run()
            }
        }
    }

    /// Removes the homes of older keys, except homes with rows that do not open.
    func deleteHomes(before generation: UInt32) throws {
        let statement = try statement(.deleteOldHomes)
        try statement.bind(Int64(generation), at: 1)
        try statement.run()
    }
}

extension IndexToken {
    /// Compares as SQLite compares the bytes.
    fileprivate func precedes(_ other: IndexToken) -> Bool {
        (words.0.bigEndian, words.1.bigEndian) < (other.words.0.bigEndian, other.words.1.bigEndian)
    }
}
