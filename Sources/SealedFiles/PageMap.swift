internal import KeychainCrypto

/// The pages of a file changed in place that can be written.
///
/// A page that is not known to be free counts as in use. The file then grows until its nodes are read once.
struct PageMap {
    /// A run of pages: its first page and its length.
    struct Run: Equatable {
        var page: UInt64
        var count: Int
    }

    /// The first page behind all pages in use.
    private(set) var end: UInt64
    /// Whether every free page below the end is known, or is in ``waiting``.
    private(set) var isComplete: Bool
    private var free: PageSet
    /// The number of free pages.
    private(set) var freeCount: Int
    /// The pages that only the base uses. They become free with the next base.
    private(set) var waiting: [Run] = []
    /// The place where the next search begins. So bytes that are written one after the other lie one behind the other.
    private var next: UInt64 = 1
    private var lastFailure: Failure?

    /// A search that found no place.
    private struct Failure {
        /// The number of pages in a row that were wanted.
        let count: Int
        /// The number of pages that have become free since.
        var freed = 0
    }

    /// The number of free pages up to which no search for them is worthwhile. It is 1 MiB.
    static let fewPages = 256

    /// The map of no file.
    static let nothing = PageMap(end: 1)

    /// Makes a map that knows only the end.
    ///
    /// - Parameter end: The first page behind all pages in use. Pages before it count as in use.
    init(end: UInt64) {
        self.end = end
        isComplete = end == 1
        free = PageSet()
        freeCount = 0
    }

    /// Makes a complete map.
    ///
    /// - Parameters:
    ///   - used: The pages that the present header or the base uses.
    ///   - waiting: The pages of `used` that only the base uses.
    init(used: PageSet, waiting: [Run]) {
        end = used.end
        isComplete = true
        self.waiting = waiting
        free = used.gaps
        freeCount = free.count
    }

    /// Finds a place for pages in a row, behind the end if there is none before it.
    mutating func take(_ count: Int) -> UInt64 { takeFree(count) ?? extend(by: count) }

    /// Finds a place among the free pages. `nil` means that no run is long enough.
    mutating func takeFree(_ count: Int) -> UInt64? {
        // Searching the whole map takes longer than writing elsewhere.
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

    /// The number of freed pages from which on another search is worthwhile: 256 KiB.
    private static let fewestWorthSearching = 64

    /// Finds a place behind all pages in use.
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

    /// The free runs of at least a length.
    func freeRuns(ofAtLeast count: Int) -> [Run] {
        var runs: [Run] = []
        var place: UInt64 = 1
        while let run = free.run(from: place) {
            if run.count >= count { runs.append(run) }
            place = run.page + UInt64(run.count)
        }
        return runs
    }

    /// Marks pages as free.
    mutating func put(_ run: Run) {
        // The numbers come from the file, so they are checked.
        let known = 1..<min(end, Self.mostPages)
        guard known.contains(run.page), UInt64(run.count) <= known.upperBound - run.page else { return }
        free.insert(run)
        freeCount += run.count
        lastFailure?.freed += run.count
    }

    /// The number of pages that are remembered: 1 TiB of a file. Pages behind them are not reused. The map takes at
    /// most 32 MiB.
    static let mostPages: UInt64 = 1 << 28

    /// Marks pages that the present header does not use any more, and that the base still uses.
    mutating func putAside(_ run: Run) { waiting.append(run) }

    /// Frees the pages of the former base: the present header is the base now.
    mutating func forgetBase() {
        for run in waiting { put(run) }
        waiting = []
    }
}

extension PageMap {
    /// Takes account of what other programs have written.
    ///
    /// - Parameters:
    ///   - change: The difference of the present tree from the one that the map is for.
    ///   - ofBase: The entries that only the base has. `nil` means that it is the base of before.
    mutating func follow(
        _ change: SealedFileReader.Difference, ofBase: [FileEntry]?, baseWriteCount: UInt64, end: UInt64
    ) {
        let more = Run(page: self.end, count: Int(end - self.end))
        self.end = end
        put(more)
        if ofBase != nil { forgetBase() }
        for entry in change.left {
            if ofBase == nil && entry.writeCount <= baseWriteCount { putAside(entry.run) } else { put(entry.run) }
        }
        for entry in ofBase ?? [] { putAside(entry.run) }
        for run in (change.new + (ofBase ?? [])).map(\.run) {
            for page in run.page..<(run.page + UInt64(run.count)) where free.contains(page) {
                free.remove(Run(page: page, count: 1))
                freeCount -= 1
            }
        }
    }
}

/// A set of pages of one file.
struct PageSet {
    /// The bits of the set, one for each page.
    private var words: [UInt64] = []
    /// The first page behind all pages that were ever in the set.
    private(set) var end: UInt64 = 1

    /// Adds a run. Pages from ``PageMap/mostPages`` on are not kept.
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

    /// Changes the bits of a run.
    ///
    /// - Parameter change: Called with a word and a mask of the bits to change.
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

    /// Whether no page of a run is in the set.
    func isFree(_ run: PageMap.Run) -> Bool { (0..<UInt64(run.count)).allSatisfy { !contains(run.page + $0) } }

    func contains(_ page: UInt64) -> Bool {
        let word = Int(page / 64)
        return word < words.count && words[word] & 1 << (page % 64) != 0
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Finds the first run of pages from a place on.
    ///
    /// - Parameter most: The length after which the run is cut off.
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
        // The first page that is not in the set ends the run.
        var others = ~words[word] & .max << UInt64(start % 64)
        while others == 0, (word + 1) * 64 - start < most, word + 1 < words.count {
            word += 1
            others = ~words[word]
        }
        let count = min(word * 64 + others.trailingZeroBitCount - start, most)
        return PageMap.Run(page: UInt64(start), count: count)
    }

    /// The pages before the end that are not in the set. The first page, which is the header's, is in neither.
    var gaps: PageSet {
        var gaps = PageSet()
        gaps.insert(PageMap.Run(page: 1, count: Int(end) - 1))
        for (number, word) in words.enumerated() where number < gaps.words.count { gaps.words[number] &= ~word }
        return gaps
    }
}

extension FileEntry {
    /// The pages of the entry.
    var run: PageMap.Run { PageMap.Run(page: page, count: Int(length).pageCount) }
}
