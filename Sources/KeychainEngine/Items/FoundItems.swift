internal import KeychainModel

/// The items of one answer, up to the size that an answer may have.
struct FoundItems {
    private(set) var items: [Item] = []
    private var byteCount = 0
    /// nil if there is no limit.
    private let most: Int?
    /// The memory for the items; nil if there is enough.
    private let mostBytes: Int?

    init(most: Int?, mostBytes: Int? = nil) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// - Throws: `.dataTooLarge` if the answer is too large with this item, and the signal `.needsMemory` if the memory
    ///   does not suffice. The items found so far are not answered then.
    mutating func append(_ item: Item) throws(KeychainError) {
        byteCount += item.byteCount
        if let mostBytes, byteCount > mostBytes, byteCount <= most ?? .max { throw .needsMemory(most ?? .max) }
        if let most, byteCount > most {
            throw KeychainError(
                .dataTooLarge,
                message: "the items that match have more than \(most >> 20) MiB together, which is the most that one "
                    + "answer holds: ask for fewer with a limit or more attributes, or without their secrets")
        }
        items.append(item)
    }
}
