internal import KeychainModel

/// The items of an answer, up to what an answer may hold.
struct FoundItems {
    /// What an item takes besides its values, by and large.
    private static let overhead = 512

    private(set) var items: [FoundItem] = []
    private var byteCount = 0
    /// nil: no limit.
    private let most: Int?

    init(most: Int?) { self.most = most }

    /// - Throws: `.dataTooLarge` if it is one too many. Nothing of what was found so far is answered then.
    mutating func append(_ item: FoundItem) throws(KeychainError) {
        byteCount += Self.overhead + item.attributes.byteCount + (item.secret?.count ?? 0)
        byteCount += item.certificate?.count ?? 0
        if let most, byteCount > most {
            throw KeychainError(
                .dataTooLarge,
                message: "the items that match have more than \(most >> 20) MiB together, which is the most that one "
                    + "answer holds: ask for fewer with a limit or more attributes, or without their secrets")
        }
        items.append(item)
    }
}
