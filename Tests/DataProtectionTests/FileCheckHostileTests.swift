import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// Files that somebody made who has the key, or that were changed in place, as a check sees them.
@Suite struct FileCheckHostileTests {
    private static let chunk = 16_384

    private func withMade(_ body: (HandmadeFile, ProtectedFiles, URL) throws -> Void) throws {
        try withProtectedFiles { files, directory throws in
            try body(try HandmadeFile(files), files, directory.appendingPathComponent("file"))
        }
    }

    private func examine(
        _ made: HandmadeFile, _ files: ProtectedFiles, _ url: URL, _ content: Data
    ) throws -> ProtectedFileCheck {
        try DamagedFile(files: files, url: url, content: content, stored: made.bytes).examine(made.bytes)
    }

    // MARK: Who has the key

    @Test("Two parts with one place are found, though both open")
    func sharedPlace() throws {
        try withMade { made, files, url throws in
            let content = content(2 * Self.chunk)
            let first = try made.add(content.prefix(Self.chunk), index: 0)
            let second = try made.sharing(first, index: 1)
            let root = try made.addNode([first, second])
            made.put(made.header(root: root, length: 2 * Self.chunk))
            try made.bytes.write(to: url)
            let read = try files.read(from: url)
            let check = try examine(made, files, url, read)
            #expect(check.findings.map(\.kind) == [.place])
            #expect(check.findings[0].content == UInt64(Self.chunk)..<UInt64(2 * Self.chunk))
            #expect(check.lost.isEmpty && check.isSalvaged && !check.isIntact)
        }
    }

    @Test("Entries that lead nowhere cost what they are for")
    func entries() throws {
        let content = content(3 * Self.chunk)
        func expectLost(_ edit: (inout FileEntry) -> Void) throws {
            try withMade { made, files, url throws in
                var entries = try (0..<3).map {
                    try made.add(content[($0 * Self.chunk)..<(($0 + 1) * Self.chunk)], index: UInt64($0))
                }
                edit(&entries[1])
                let root = try made.addNode(entries)
                made.put(made.header(root: root, length: content.count))
                let check = try examine(made, files, url, content)
                #expect(check.findings.map(\.kind) == [.entry])
                #expect(check.lost == [UInt64(Self.chunk)..<UInt64(2 * Self.chunk)])
                #expect(check.isSalvaged)
            }
        }
        try expectLost { $0.page = 0 }
        try expectLost { $0.page = 1 << 20 }
        try expectLost { $0.page = .max }
        try expectLost { $0.length = 0 }
        try expectLost { $0.length = .max }
        try expectLost { $0.writeCount = 0 }
        try expectLost { $0.writeCount = 99 }
    }

    @Test("Tables in a form that no program writes are found, and what they refer to is saved")
    func nodeForms() throws {
        try withMade { made, files, url throws in
            let content = content(2 * Self.chunk)
            let entries = try (0..<2).map {
                try made.add(content[($0 * Self.chunk)..<(($0 + 1) * Self.chunk)], index: UInt64($0))
            }
            let end = (made.bytes, made.writeCount)
            // It ends in a hole.
            made.put(made.header(root: try made.addNode(entries + [nil]), length: content.count))
            var check = try examine(made, files, url, content)
            #expect(check.findings.map(\.kind) == [.nodeForm] && check.lost.isEmpty && check.isSalvaged)
            // An entry with a byte that is not defined.
            (made.bytes, made.writeCount) = end
            var node = HandmadeFile.encoded(entries)
            node[64 + 60] = 1
            made.put(made.header(root: try made.add(node, level: 1, index: 0), length: content.count))
            check = try examine(made, files, url, content)
            #expect(Set(check.findings.map(\.kind)) == [.nodeForm, .entry])
            #expect(check.lost == [UInt64(Self.chunk)..<UInt64(2 * Self.chunk)] && check.isSalvaged)
            // An entry for what is beyond the content, which no reader ever looks at.
            (made.bytes, made.writeCount) = end
            let third = try made.add(Data(count: 10), index: 2)
            made.put(made.header(root: try made.addNode(entries + [third]), length: content.count, usedPages: 9))
            check = try examine(made, files, url, content)
            #expect(check.findings.map(\.kind) == [.beyondLength] && check.lost.isEmpty && check.isSalvaged)
        }
    }

    @Test("A wrong count of pages is told of, and is no damage")
    func pageCount() throws {
        try withMade { made, files, url throws in
            let content = content(100)
            let root = try made.add(content, index: 0)
            made.put(made.header(root: root, length: 100, usedPages: 0))
            let check = try examine(made, files, url, content)
            #expect(check.findings.map(\.kind) == [.pageCount] && check.isIntact && !check.isSalvaged)
        }
    }

    // MARK: Changed in place

    /// A file of four chunks, of which a later header has another second one. The first header is the durable one.
    private struct ChangedFile {
        let made: HandmadeFile
        let (old, new): (Data, Data)
        let base: FileHeader
        let newestWithout: (UUID?) -> FileHeader
        /// Where the new chunk and the new table are.
        let (chunk, node): (Range<Int>, Range<Int>)

        init(_ made: HandmadeFile) throws {
            self.made = made
            let size = 16_384
            let old = content(4 * size)
            let part = content(size, seed: 7)
            let entries = try (0..<4).map {
                try made.add(old[($0 * size)..<(($0 + 1) * size)], index: UInt64($0))
            }
            let root = try made.addNode(entries)
            base = made.header(root: root, length: old.count, sequence: 5, isChangedInPlace: true)
            let changed = try made.add(part, index: 1)
            let newRoot = try made.addNode([entries[0], changed, entries[2], entries[3]])
            newestWithout = { bootID in
                made.header(
                    root: newRoot, length: old.count, usedPages: 17, sequence: 6, isChangedInPlace: true,
                    bootID: bootID)
            }
            (self.old, new) = (old, old.replacing(size..<(2 * size), by: part))
            chunk = Int(changed.offset)..<(Int(changed.offset) + size)
            node = Int(newRoot.offset)..<(Int(newRoot.offset) + Int(newRoot.length))
        }
    }

    private func withChanged(_ body: (ChangedFile, ProtectedFiles, URL) throws -> Void) throws {
        try withMade { made, files, url throws in try body(try ChangedFile(made), files, url) }
    }

    @Test("Of a file that was changed in place the newest header counts, and free bytes are no finding")
    func newest() throws {
        try withChanged { file, files, url throws in
            file.made.put(file.base, file.newestWithout(nil))
            file.made.bytes += Data(count: 9000)
            #expect(try examine(file.made, files, url, file.new).findings.isEmpty)
            file.made.put(file.base, file.newestWithout(SystemStart.id))
            #expect(try examine(file.made, files, url, file.new).findings.isEmpty)
        }
    }

    @Test(
        "With its newest header damaged the file is as it was before the last change, and is so said",
        arguments: [0, 1])
    func newestHeader(slot: Int) throws {
        try withChanged { file, files, url throws in
            let newest = file.newestWithout(nil)
            if slot == 0 { file.made.put(newest, file.base) } else { file.made.put(file.base, newest) }
            file.made.bytes = file.made.bytes.flipping(FileFormat.slotOffsets[slot] + 100)
            let check = try examine(file.made, files, url, file.old)
            #expect(check.findings.map(\.kind) == [.newestHeader])
            #expect(check.findings[0].text.contains("as it was before the last change"))
            #expect(check.isSalvaged && check.lost.isEmpty && check.canRepairHeader)
            #expect(try files.repairHeader(of: url))
            #expect(try files.check(url).findings.isEmpty == false || files.read(from: url) == file.old)
        }
    }

    @Test("If nothing opens that the newest header refers to, the older one serves")
    func uselessNewest() throws {
        try withChanged { file, files, url throws in
            file.made.put(file.base, file.newestWithout(nil))
            file.made.bytes = file.made.bytes.flipping(file.node.lowerBound)
            let damaged = DamagedFile(files: files, url: url, content: file.old, stored: file.made.bytes)
            let check = try damaged.examine(file.made.bytes)
            #expect(check.findings.map(\.kind) == [.newestHeader])
            #expect(check.isSalvaged && check.lost.isEmpty)
        }
    }

    @Test("What a crash of the system has undone is no damage; what is lost without one is")
    func crash() throws {
        try withChanged { file, files, url throws in
            let bytes = file.made.bytes
            for place in [file.chunk, file.node] {
                file.made.bytes = bytes.replacing(place, by: Data(count: place.count))
                file.made.put(file.base, file.newestWithout(UUID()))
                try file.made.bytes.write(to: url)
                let check = try files.check(url)
                #expect(check.findings.map(\.kind) == [.interrupted])
                #expect(check.isIntact && check.readable == UInt64(file.old.count))
            }
            // All of it opens, and an end that is all holes is not there.
            file.made.bytes = bytes
            var longer = file.newestWithout(UUID())
            longer.storedSize = UInt64(bytes.count) + 4096
            file.made.put(file.base, longer)
            try file.made.bytes.write(to: url)
            let cut = try files.check(url)
            #expect(cut.findings.map(\.kind) == [.interrupted])
            #expect(cut.isIntact && cut.readable == UInt64(file.old.count))
            #expect(try files.read(from: url) == file.old)
            // The same change, by the system that runs.
            file.made.bytes = bytes.replacing(file.chunk, by: Data(count: file.chunk.count))
            file.made.put(file.base, file.newestWithout(SystemStart.id))
            let check = try examine(file.made, files, url, file.new)
            #expect(check.findings.map(\.kind) == [.chunk] && check.lost == [16_384..<32_768])
            // What both headers have, after a crash: no going back would help.
            file.made.bytes = bytes.flipping(4096 + 3 * 16_384)
            file.made.put(file.base, file.newestWithout(UUID()))
            let shared = try examine(file.made, files, url, file.new)
            #expect(shared.lost == [49_152..<65_536])
        }
    }

    @Test("Damage to what only a crash would go back to is told of, and is no damage to the file")
    func formerState() throws {
        try withChanged { file, files, url throws in
            file.made.put(file.base, file.newestWithout(SystemStart.id))
            file.made.bytes = file.made.bytes.flipping(4096 + 16_384 + 5)
            let check = try examine(file.made, files, url, file.new)
            #expect(check.findings.map(\.kind) == [.formerState] && check.isIntact)
        }
    }

    @Test("A header that is not on the disk for certain is copied only after it is")
    func repairOfUnsynced() throws {
        try withChanged { file, files, url throws in
            file.made.put(file.base, file.newestWithout(SystemStart.id))
            file.made.bytes = file.made.bytes.flipping(100)
            try file.made.bytes.write(to: url)
            #expect(try files.check(url).findings.map(\.kind) == [.newestHeader])
            #expect(try files.repairHeader(of: url))
            let check = try files.check(url)
            #expect(check.findings.isEmpty)
            #expect(try files.read(from: url) == file.new)
            let page = try Data(contentsOf: url).prefix(4096)
            #expect(FileHeader.intactCopies(in: page) == [true, true])
            let header = try FileHeader.newest(in: page).claimed
            #expect(header.isDurable && header.sequence == 7)
            // Not if something of it is missing.
            file.made.bytes = file.made.bytes.flipping(file.chunk.lowerBound)
            try file.made.bytes.write(to: url)
            #expect(try !files.repairHeader(of: url))
            #expect(try Data(contentsOf: url) == file.made.bytes)
        }
    }

    // MARK: Random

    @Test("Whatever bytes are flipped, zeroed or cut off, what is wrong is found and what is saved is right")
    func random() throws {
        try withProtectedFiles { files, directory throws in
            var numbers = RandomNumbers(seed: 20)
            for (length, bits) in [(300, 14), (70_000, 14), (2_500_000, 14), (2_500_000, 12), (1_200_000, 20)]
                as [(Int, UInt8)]
            {
                let url = directory.appendingPathComponent("file-\(length)-\(bits)")
                let content = content(length)
                let key = try files.keys.ask(.make(.completeUntilFirstUserAuthentication, fileID: UUID()), url.path)
                let new = try Replacement(of: url.path, mode: 0o600, SystemFiles())
                let writer = try SealedFileWriter(
                    new.descriptor, url.path, key: key, chunkBits: bits, files: SystemFiles(),
                    randomness: SystemRandomness())
                try content.withUnsafeBytes { bytes throws in try writer.finish(bytes) }
                try new.publish(isDurable: false)
                let stored = try Data(contentsOf: url)
                let file = DamagedFile(files: files, url: url, content: content, stored: stored)
                for _ in 0..<12 {
                    var bytes = stored
                    for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                        let offset = Int.random(in: 0..<bytes.count, using: &numbers)
                        switch Int.random(in: 0..<6, using: &numbers) {
                        case 0:
                            let end = min(bytes.count, offset + 4096)
                            bytes.replaceSubrange(offset..<end, with: Data(count: end - offset))
                        case 1: bytes[offset % 4096] ^= UInt8.random(in: 1...255, using: &numbers)
                        default: bytes[offset] ^= UInt8.random(in: 1...255, using: &numbers)
                        }
                    }
                    if Int.random(in: 0..<8, using: &numbers) == 0 {
                        bytes = bytes.prefix(Int.random(in: 4096..<bytes.count, using: &numbers))
                    }
                    do {
                        _ = try file.examine(bytes)
                    } catch let error as DataProtectionError {
                        // Only what says that there is nothing to look at.
                        #expect([.notProtected, .newerFormat, .wrongKey].contains(error.code), "\(error)")
                    }
                }
            }
        }
    }
}

/// The same numbers in every run.
private struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 31
    }
}
