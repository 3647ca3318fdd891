internal import KeychainCrypto

/// The pages of a file that are taken by some part of it, in one bit for each page.
struct PageClaims {
    private static let bitsPerBlock = UInt64(1 << 15)

    private var blocks: [UInt64: [UInt64]] = [:]
    /// The number of pages that are taken.
    private(set) var count: UInt64 = 0

    /// Takes the pages of an entry.
    ///
    /// - Returns: false if one of the pages was taken before.
    mutating func take(_ entry: FileEntry) -> Bool {
        var isFree = true
        for page in entry.page..<(entry.page + UInt64(entry.length).pageCount) {
            let (block, bit) = page.quotientAndRemainder(dividingBy: Self.bitsPerBlock)
            let isNew = Self.take(
                Int(bit / 64), UInt64(1) << (bit % 64),
                of: &blocks[block, default: Array(repeating: 0, count: Int(Self.bitsPerBlock / 64))])
            isFree = isFree && isNew
            if isNew { count += 1 }
        }
        return isFree
    }

    private static func take(_ word: Int, _ mask: UInt64, of words: inout [UInt64]) -> Bool {
        defer { words[word] |= mask }
        return words[word] & mask == 0
    }
}
