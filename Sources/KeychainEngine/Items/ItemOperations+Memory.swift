internal import KeychainModel

/// The memory that rows take when they are opened, known before one of them is opened.
struct OpenedSize {
    /// An opening row is in memory three times: as stored, as deciphered, and as the result.
    private static let copiesWhileOpening = 2

    /// The most rows that stay in memory.
    private let maximum: Int
    private var sum = 0
    private var largest = 0

    init(maximum: Int = 1) { self.maximum = maximum }

    mutating func add(stored: Int) {
        sum += Item.overhead + stored
        largest = max(largest, stored)
    }

    /// The bytes of the rows that stay in memory.
    var staying: Int {
        let (product, isOver) = maximum.multipliedReportingOverflow(by: Item.overhead + largest)
        return isOver ? sum : min(sum, product)
    }

    var bytes: Int { staying + Self.copiesWhileOpening * largest }

    /// The memory for an answer of the largest size.
    static func most(_ staying: Int) -> Int { staying + copiesWhileOpening * Item.mostBytes }
}

extension ItemOperations {
    /// - Parameters:
    ///   - held: The memory of earlier rows that stay.
    ///   - most: The memory that all rows will take.
    /// - Throws: the signal `.needsMemory` if the memory does not suffice to open the row.
    func requireMemory(
        forRow id: Int64, withSecret: Bool, besides held: Int = 0, of most: Int = 0, on connection: StoreConnection
    ) throws {
        guard let mostBytes, let row = try connection.size(ofRow: id) else { return }
        var size = OpenedSize()
        size.add(stored: row.stored(withSecret: withSecret))
        if held + size.bytes > mostBytes { throw KeychainError.needsMemory(most + size.bytes) }
    }

    /// Adds up the memory of all rows that a query may mean. No item's key is used, and no content is read.
    ///
    /// - Returns: the operations that open the rows, and need not measure each row once more.
    /// - Throws: the signal `.needsMemory` if the memory does not suffice.
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
        // The answer may still be small enough, since not every row need match.
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
