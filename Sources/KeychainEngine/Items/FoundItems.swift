internal import KeychainModel

/// The items of an answer, up to what an answer may hold.
struct FoundItems {
    private(set) var items: [Item] = []
    private var byteCount = 0
    /// nil: no limit.
    private let most: Int?
    /// How much memory there is; nil: enough.
    private let mostBytes: Int?

    init(most: Int?, mostBytes: Int? = nil) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// - Throws: `.dataTooLarge` if it is one too many, and the signal `.needsMemory` if it is one too many for the memory
    ///   there is. Nothing of what was found so far is answered then.
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
