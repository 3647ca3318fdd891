internal import KeychainCrypto

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
    private var free: PageSet
    /// How many there are.
    private(set) var freeCount: Int
    /// In use by the base alone: free when there is the next one.
    private(set) var waiting: [Run] = []
    /// Where the next search begins: what is written one after the other lies one behind the other.
    private var next: UInt64 = 1
    private var lastFailure: Failure?

    /// A search that found no place.
    private struct Failure {
        /// For as many pages in a row.
        let count: Int
        /// As many have become free since.
        var freed = 0
    }

    /// As many may be free before somebody looks for them: 1 MiB.
    static let fewPages = 256

    /// Of no file.
    static let nothing = PageMap(end: 1)

    /// - Parameter end: Nothing is known of the pages before it.
    init(end: UInt64) {
        self.end = end
        isComplete = end == 1
        free = PageSet()
        freeCount = 0
    }

    /// - Parameters:
    ///   - used: Pages that are in use, by the header in use or by the base.
    ///   - waiting: Those of them that the base alone uses.
    init(used: PageSet, waiting: [Run]) {
        end = used.end
        isComplete = true
        self.waiting = waiting
        free = used.gaps
        freeCount = free.count
    }

    /// A place for as many pages in a row.
    mutating func take(_ count: Int) -> UInt64 { takeFree(count) ?? extend(by: count) }

    /// The same, if so many are free in a row.
    mutating func takeFree(_ count: Int) -> UInt64? {
        // To look through all of it takes longer than to write elsewhere.
        if freeCount < count { return nil }
        let worthSearching = max(Self.fewestWorthSearching, freeCount / 256)
        if let lastFailure, count >= lastFailure.count, lastFailure.freed < worthSearching { return nil }
        guard let page = find(count, from: next, until: end) ?? find(count, from: 1, until: next + UInt64(count))
        else {
            lastFailure = Failure(count: count)
            return nil
        }
        let run = Run(page: page, count: count)
        free.remove(run)
        freeCount -= count
        next = page + UInt64(count)
        return page
    }

    /// 256 KiB.
    private static let fewestWorthSearching = 64

    /// A place behind all that is in use.
    mutating func extend(by count: Int) -> UInt64 {
        defer { end += UInt64(count) }
        return end
    }

    private func find(_ count: Int, from start: UInt64, until end: UInt64) -> UInt64? {
        var place = start
        while place < end, let run = free.run(from: place, ofAtMost: count) {
            if run.count == count { return run.page }
            place = run.page + UInt64(run.count)
        }
        return nil
    }

    /// Runs that are as long as that or longer.
    func freeRuns(ofAtLeast count: Int) -> [Run] {
        var runs: [Run] = []
        var place: UInt64 = 1
        while let run = free.run(from: place) {
            if run.count >= count { runs.append(run) }
            place = run.page + UInt64(run.count)
        }
        return runs
    }

    /// Nothing uses these pages any more.
    mutating func put(_ run: Run) {
        // Whoever made the file says where they are.
        let known = 1..<min(end, Self.mostPages)
        guard known.contains(run.page), UInt64(run.count) <= known.upperBound - run.page else { return }
        free.insert(run)
        freeCount += run.count
        lastFailure?.freed += run.count
    }

    /// 1 TiB: what becomes free behind that is not remembered, and this takes 32 MiB at most.
    static let mostPages: UInt64 = 1 << 28

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
    /// A bit for each page.
    private var words: [UInt64] = []
    /// The first page behind all that were ever in it.
    private(set) var end: UInt64 = 1

    /// Those from ``PageMap/mostPages`` on are not kept.
    mutating func insert(_ run: PageMap.Run) {
        end = max(end, run.page + UInt64(run.count))
        let last = min(run.page + UInt64(run.count), PageMap.mostPages)
        guard run.page < last else { return }
        let run = PageMap.Run(page: run.page, count: Int(last - run.page))
        let wordCount = Int((last + 63) / 64)
        if wordCount > words.count { words += repeatElement(0, count: wordCount - words.count) }
        change(run) { $0 |= $1 }
    }

    mutating func remove(_ run: PageMap.Run) { change(run) { $0 &= ~$1 } }

    /// - Parameter change: Is given a word, and which of its bits to change.
    private mutating func change(_ run: PageMap.Run, _ change: (inout UInt64, UInt64) -> Void) {
        var page = run.page
        var left = UInt64(run.count)
        while left > 0 {
            let count = min(64 - page % 64, left)
            change(&words[Int(page / 64)], (count == 64 ? .max : (1 << count) - 1) << (page % 64))
            page += count
            left -= count
        }
    }

    func contains(_ page: UInt64) -> Bool {
        let word = Int(page / 64)
        return word < words.count && words[word] & 1 << (page % 64) != 0
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// The first pages in a row that are in it, from a place on.
    ///
    /// - Parameter most: More of them are not looked for.
    func run(from place: UInt64, ofAtMost most: Int = .max) -> PageMap.Run? {
        var word = Int(place / 64)
        guard word < words.count else { return nil }
        var bits = words[word] & .max << (place % 64)
        while bits == 0 {
            word += 1
            guard word < words.count else { return nil }
            bits = words[word]
        }
        let start = word * 64 + bits.trailingZeroBitCount
        // Where the first of the others is.
        var others = ~words[word] & .max << UInt64(start % 64)
        while others == 0, (word + 1) * 64 - start < most, word + 1 < words.count {
            word += 1
            others = ~words[word]
        }
        let count = min(word * 64 + others.trailingZeroBitCount - start, most)
        return PageMap.Run(page: UInt64(start), count: count)
    }

    /// What is before the end and not in it. The first page, which is the header's, is in neither.
    var gaps: PageSet {
        var gaps = PageSet()
        gaps.insert(PageMap.Run(page: 1, count: Int(end) - 1))
        for (number, word) in words.enumerated() where number < gaps.words.count { gaps.words[number] &= ~word }
        return gaps
    }
}

extension FileEntry {
    /// The pages that it has.
    var run: PageMap.Run { PageMap.Run(page: page, count: Int(length).pageCount) }
}
