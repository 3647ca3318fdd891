internal import KeychainCrypto
internal import KeychainModel

/// What rows take of memory when they are opened, known before one of them is.
struct OpenedSize {
    /// A row that is being opened is there three times: as it is stored, as it is deciphered, and as it stays.
    private static let copiesWhileOpening = 2

    /// So many of the rows stay, at most.
    private let maximum: Int
    private var sum = 0
    private var largest = 0

    init(maximum: Int = 1) { self.maximum = maximum }

    mutating func add(stored: Int) {
        sum += Item.overhead + stored
        largest = max(largest, stored)
    }

    /// What stays.
    var staying: Int {
        let (product, isOver) = maximum.multipliedReportingOverflow(by: Item.overhead + largest)
        return isOver ? sum : min(sum, product)
    }

    var bytes: Int { staying + Self.copiesWhileOpening * largest }

    /// For an answer that is as large as one may be.
    static func most(_ staying: Int) -> Int { staying + copiesWhileOpening * Item.mostBytes }
}

extension ItemOperations {
    /// - Parameters:
    ///   - held: What earlier rows take that stay.
    ///   - most: What they will take.
    /// - Throws: the signal `.needsMemory` if a row is too large to be opened with the memory there is.
    func requireMemory(
        forRow id: Int64, withSecret: Bool, besides held: Int = 0, of most: Int = 0, on connection: StoreConnection
    ) throws {
        guard let mostBytes, let row = try connection.size(ofRow: id) else { return }
        var size = OpenedSize()
        size.add(stored: row.stored(withSecret: withSecret))
        if held + size.bytes > mostBytes { throw KeychainError.needsMemory(most + size.bytes) }
    }

    /// Adds up what all rows take that a query may mean. No key of an item is used, and no content read.
    ///
    /// - Returns: the operations that open them, and need not look at each row once more.
    /// - Throws: the signal `.needsMemory` if that is more memory than there is.
    func withMemory(
        forAll query: ItemQuery, in scope: GroupScope, wantsSecrets: Bool, on connection: StoreConnection
    ) throws -> ItemOperations {
        guard let mostBytes else { return self }
        let most = configuration.mostBytesInAnswer ?? .max
        var size = OpenedSize(maximum: query.limit.maximum)
        try forEachSearch(of: query, in: scope, on: connection, wantsSecrets: wantsSecrets) { search in
            try forEachRowID(of: search) { id in
                guard let row = try connection.size(ofRow: id) else { return .goOn }
                guard search.homes.contains(row.home) else { return .isElsewhere }
                size.add(stored: row.stored(withSecret: wantsSecrets))
                return size.staying > most ? .end : .goOn
            }
        }
        // The answer may still be small enough: not every row need match.
        let bytes = size.staying > most ? OpenedSize.most(most) : size.bytes
        if bytes > mostBytes { throw KeychainError.needsMemory(bytes) }
        var counted = self
        counted.mostBytes = nil
        return counted
    }
}

extension KeychainError {
    static func needsMemory(_ count: Int) -> KeychainError {
        KeychainError(
            .dataTooLarge,
            message: "what was asked for takes \(count >> 20) MiB of memory, and there is less at present",
            signal: .needsMemory(count))
    }
}
