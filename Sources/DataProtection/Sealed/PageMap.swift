@_implementationOnly import KeychainCrypto

/// Which pages of a file that is changed in place can be written.
///
/// Pages that nobody knows to be free are taken to be in use: the file then grows, until its nodes are read once.
struct PageMap {
    /// Where something begins, and how many pages it has.
    struct Run: Equatable {
        var page: UInt64
        var count: Int
    }

    /// The first page behind everything that is in use.
    private(set) var end: UInt64
    /// Whether every free page below the end is known, or in ``waiting``.
    private(set) var isComplete: Bool
    /// Free, by how many pages there are in a row, at the most ``longest``.
    private var free: [[UInt64]]
    /// Free, with more of them in a row.
    private var long: [Run] = []
    /// In use by the base alone: free when there is the next one.
    private(set) var waiting: [Run] = []

    /// As many as the largest chunk has.
    private static let longest = 256

    /// Of no file.
    static let nothing = PageMap(end: 1)

    /// - Parameter end: Nothing is known of the pages before it.
    init(end: UInt64) {
        self.end = end
        isComplete = end == 1
        free = Array(repeating: [], count: Self.longest + 1)
    }

    /// - Parameters:
    ///   - used: Pages that are in use, by the header in use or by the base.
    ///   - waiting: Those of them that the base alone uses.
    init(used: PageSet, waiting: [Run]) {
        self.init(end: used.end)
        isComplete = true
        self.waiting = waiting
        for run in used.gaps { put(run) }
    }

    /// A place for as many pages.
    mutating func take(_ count: Int) -> UInt64 {
        if let page = free[count].popLast() { return page }
        while let run = long.popLast() {
            guard run.count >= count else {
                put(run)
                continue
            }
            put(Run(page: run.page + UInt64(count), count: run.count - count))
            return run.page
        }
        for larger in (count + 1)..<(Self.longest + 1) {
            guard let page = free[larger].popLast() else { continue }
            put(Run(page: page + UInt64(count), count: larger - count))
            return page
        }
        defer { end += UInt64(count) }
        return end
    }

    func freeRuns(ofAtLeast count: Int) -> [Run] {
        long.filter { $0.count >= count }
            + (count..<(Self.longest + 1)).flatMap { count in free[count].map { Run(page: $0, count: count) } }
    }

    /// Nothing uses these pages any more.
    mutating func put(_ run: Run) {
        if run.count == 0 { return }
        if run.count > Self.longest { long.append(run) } else { free[run.count].append(run.page) }
    }

    /// The header in use does not need these pages any more, and the base does.
    mutating func putAside(_ run: Run) { waiting.append(run) }

    /// There is a new base, and it is the header in use.
    mutating func forgetBase() {
        for run in waiting { put(run) }
        waiting = []
    }
}

/// A set of pages of one file.
struct PageSet {
    private var words: [UInt64]
    /// The first page behind the last one that is in it.
    private(set) var end: UInt64 = 1

    /// - Parameter capacity: Pages from here on are never in it.
    init(capacity: UInt64) {
        words = Array(repeating: 0, count: Int(capacity / 64) + 1)
        words[0] = 1  // the header
    }

    mutating func insert(_ run: PageMap.Run) {
        for page in run.page..<(run.page + UInt64(run.count)) { words[Int(page / 64)] |= 1 << (page % 64) }
        end = max(end, run.page + UInt64(run.count))
    }

    func contains(_ page: UInt64) -> Bool { words[Int(page / 64)] & 1 << (page % 64) != 0 }

    /// What lies between the pages that are in it, in order.
    var gaps: [PageMap.Run] {
        var gaps: [PageMap.Run] = []
        var page: UInt64 = 1
        while page < end {
            let word = words[Int(page / 64)] >> (page % 64)
            let left = 64 - page % 64
            if word & 1 == 1 {
                page += min(left, UInt64((~word).trailingZeroBitCount))
                continue
            }
            let count = min(left, UInt64(word.trailingZeroBitCount), end - page)
            if let last = gaps.last, last.page + UInt64(last.count) == page {
                gaps[gaps.count - 1].count += Int(count)
            } else {
                gaps.append(PageMap.Run(page: page, count: Int(count)))
            }
            page += count
        }
        return gaps
    }
}

extension FileEntry {
    /// The pages that it has.
    var run: PageMap.Run { PageMap.Run(page: page, count: Int(length).pageCount) }
}
