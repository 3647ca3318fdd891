import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// Which pages of a file can be written: compared with a set of them.
@Suite struct PageMapTests {
    @Test("No page is given away twice, and what was put back is taken again")
    func model() {
        var generator = SeededGenerator()
        var map = PageMap(end: 100)
        var (taken, free): (Set<UInt64>, Set<UInt64>) = ([], [])
        var runs: [PageMap.Run] = []
        for _ in 0..<20_000 {
            if generator.below(2) == 0 || runs.isEmpty {
                let count = 1 + generator.below(generator.below(20) == 0 ? 300 : 8)
                let end = map.end
                let page = map.take(count)
                let pages = Set(page..<(page + UInt64(count)))
                #expect(taken.isDisjoint(with: pages), "seed \(generator.seed)")
                #expect(page == end || pages.isSubset(of: free), "seed \(generator.seed)")
                taken.formUnion(pages)
                free.subtract(pages)
                runs.append(PageMap.Run(page: page, count: count))
            } else {
                let run = runs.swapRemove(generator.below(runs.count))
                let pages = run.page..<(run.page + UInt64(run.count))
                taken.subtract(pages)
                free.formUnion(pages)
                map.put(run)
            }
            #expect(map.freeCount == free.count, "seed \(generator.seed)")
        }
        let listed = map.freeRuns(ofAtLeast: 1)
        #expect(Set(listed.flatMap { $0.page..<($0.page + UInt64($0.count)) }) == free, "seed \(generator.seed)")
        #expect(zip(listed, listed.dropFirst()).allSatisfy { $0.page + UInt64($0.count) < $1.page })
        #expect(map.freeRuns(ofAtLeast: 5) == listed.filter { $0.count >= 5 })
    }

    @Test("What lies between pages in use is free, up to the last of them, and the header never is")
    func gaps() {
        var generator = SeededGenerator()
        for _ in 0..<200 {
            var used = PageSet()
            var pages: Set<UInt64> = []
            for _ in 0..<generator.below(20) {
                let run = PageMap.Run(page: UInt64(1 + generator.below(500)), count: 1 + generator.below(130))
                used.insert(run)
                pages.formUnion(run.page..<(run.page + UInt64(run.count)))
            }
            let map = PageMap(used: used, waiting: [])
            let end = (pages.max() ?? 0) + 1
            let found = map.freeRuns(ofAtLeast: 1).flatMap { $0.page..<($0.page + UInt64($0.count)) }
            #expect(map.end == end && map.isComplete)
            #expect(Set(found) == Set(1..<end).subtracting(pages), "seed \(generator.seed)")
        }
    }

    @Test("A place that was not there when it was looked for is found once enough was put back")
    func secondSearch() {
        var map = PageMap(end: 1)
        let first = map.take(200)
        // Every second page.
        for page in stride(from: first, to: first + 200, by: 2) { map.put(PageMap.Run(page: page, count: 1)) }
        #expect(map.takeFree(2) == nil && map.takeFree(1) != nil)
        for page in stride(from: first + 1, to: first + 200, by: 2) { map.put(PageMap.Run(page: page, count: 1)) }
        #expect(map.takeFree(2) != nil)
        #expect(map.takeFree(100) != nil)
    }

    @Test("A map that follows what other programs write knows the free pages that reading all nodes finds")
    func following() {
        var generator = SeededGenerator()
        for _ in 0..<200 {
            var writeCount: UInt64 = 0
            func entry(_ run: PageMap.Run) -> FileEntry {
                writeCount += 1
                return FileEntry(page: run.page, writeCount: writeCount, length: UInt32(run.count * 4096))
            }
            // The header's entries and those of the base, as a program knows them that only looks on.
            var other = PageMap(used: PageSet(), waiting: [])
            var header = (0..<20).map { _ in entry(run(1 + generator.below(5), &other)) }
            var base = header
            var baseWriteCount = writeCount
            var map = read(header, base)
            for _ in 0..<20 {
                let (known, knownBase) = (header, baseWriteCount)
                for _ in 0..<generator.below(6) {
                    let leaving = header.swapRemove(generator.below(header.count))
                    let isOfBase = leaving.writeCount <= baseWriteCount
                    if isOfBase { other.putAside(leaving.run) } else { other.put(leaving.run) }
                    header.append(entry(run(1 + generator.below(5), &other)))
                    if generator.below(4) == 0 {
                        (base, baseWriteCount) = (header, writeCount)
                        other.forgetBase()
                    }
                }
                map.follow(
                    SealedFileReader.Difference(
                        new: header.filter { !known.contains($0) }, left: known.filter { !header.contains($0) }),
                    ofBase: baseWriteCount == knownBase ? nil : base.filter { !header.contains($0) },
                    baseWriteCount: baseWriteCount, end: other.end)
                let whole = read(header, base)
                #expect(pages(map) == pages(whole).union(whole.end..<other.end), "seed \(generator.seed)")
                #expect(map.freeCount == pages(map).count, "seed \(generator.seed)")
            }
            // The base's pages are free with the next base.
            map.forgetBase()
            #expect(pages(map).isSuperset(of: pages(read(header, header))), "seed \(generator.seed)")
        }
        func run(_ count: Int, _ map: inout PageMap) -> PageMap.Run { PageMap.Run(page: map.take(count), count: count) }
        func pages(_ map: PageMap) -> Set<UInt64> {
            Set(map.freeRuns(ofAtLeast: 1).flatMap { $0.page..<($0.page + UInt64($0.count)) })
        }
        func read(_ header: [FileEntry], _ base: [FileEntry]) -> PageMap {
            var used = PageSet()
            for entry in header { used.insert(entry.run) }
            let waiting = base.map(\.run).filter { !used.contains($0.page) }
            for run in waiting { used.insert(run) }
            return PageMap(used: used, waiting: waiting)
        }
    }

    @Test("What the base alone uses is free when there is another base")
    func waiting() {
        var map = PageMap(end: 10)
        map.putAside(PageMap.Run(page: 3, count: 2))
        #expect(map.takeFree(2) == nil && map.freeCount == 0)
        map.forgetBase()
        #expect(map.takeFree(2) == 3 && map.waiting.isEmpty)
    }
}

extension Array {
    fileprivate mutating func swapRemove(_ index: Int) -> Element {
        swapAt(index, count - 1)
        return removeLast()
    }
}
