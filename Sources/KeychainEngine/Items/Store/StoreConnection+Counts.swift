internal import FoundationEssentials
internal import KeychainModel

extension StoreConnection {
    func nextItem(from id: Int64) throws -> Int64? {
        let statement = try statement(.nextItem)
        try statement.bind(id, at: 1)
        return try statement.number(atLeast: id)
    }

    /// Counts the items that have not expired.
    func itemCounts(at now: ExpiryDate) throws -> [ItemClass: Int] {
        let statement = try statement(.itemCounts)
        try statement.bind(Data(now.storedBytes), at: 1)
        defer { statement.reset() }
        var counts: [ItemClass: Int] = [:]
        while try statement.step() {
            guard let itemClass = UInt8(exactly: statement.integer(0)).flatMap(ItemClass.init(number:)) else {
                continue
            }
            counts[itemClass] = Int(statement.integer(1))
        }
        return counts
    }

    /// Counts the items of one home that have not expired.
    func itemCount(inHome home: Int64, at now: ExpiryDate) throws -> Int {
        let statement = try statement(.itemCountInHome)
        try statement.bind(home, at: 1)
        try statement.bind(Data(now.storedBytes), at: 2)
        return Int(try statement.number() ?? 0)
    }

    package func itemCount() throws -> Int { Int(try statement(.itemCount).number() ?? 0) }

    /// The number of entries that lead to no row.
    func strayEntryCount() throws -> Int {
        Int(try statement(.strayEntries).number() ?? 0)
    }
}
