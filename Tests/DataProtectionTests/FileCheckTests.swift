import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// Checks of files that are damaged in every way, and what is saved of them.
@Suite struct FileCheckTests {
    typealias Kind = ProtectedFileCheck.Finding.Kind

    private static let page = FileFormat.pageSize
    private static let chunk = 16_384
    private static let group = 64 * chunk

    private func withFile(
        _ length: Int, _ protection: FileProtection = .complete, _ body: (DamagedFile) throws -> Void
    ) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let content = content(length)
            try files.write(content, to: url, protection: protection)
            try body(DamagedFile(files: files, url: url, content: content, stored: try Data(contentsOf: url)))
        }
    }

    // MARK: Intact

    @Test(
        "An intact file has no findings, and is not copied",
        arguments: [0, 1, 16_384, 16_385, 1 << 20, (1 << 20) + 1, 3_000_000], FileProtection.allCases)
    func intact(length: Int, protection: FileProtection) throws {
        try withFile(length, protection) { file throws in
            let check = try file.examine(file.stored)
            #expect(check.findings.isEmpty && check.isIntact && check.lost.isEmpty)
            #expect(check.protection == protection && check.length == UInt64(length))
            #expect(check.readable == UInt64(length))
            #expect(!check.isSalvaged && !check.canRepairHeader)
            #expect(try !file.files.repairHeader(of: file.url))
            #expect(try Data(contentsOf: file.url) == file.stored)
        }
    }

    @Test("A file of a hundred thousand million million bytes without content is checked at once")
    func hole() throws {
        try withProtectedFiles { files, directory throws in
            let made = try HandmadeFile(files)
            made.put(made.header(root: nil, length: 1 << 60))
            let url = directory.appendingPathComponent("file")
            try made.bytes.write(to: url)
            let check = try files.check(url)
            #expect(check.isIntact && check.readable == 1 << 60)
        }
    }

    // MARK: Content

    @Test("A chunk that is changed, zeroed, exchanged or of another file is lost, and no more than that")
    func chunks() throws {
        try withFile(6 * Self.chunk + 100) { file throws in
            let places = (0..<7).map { Self.page + $0 * Self.chunk }
            let other = file.url.deletingLastPathComponent().appendingPathComponent("other")
            try file.files.write(content(6 * Self.chunk + 100, seed: 5), to: other, protection: .complete)
            let foreign = try Data(contentsOf: other)
            for number in 0..<6 {
                let place = places[number]..<(places[number] + Self.chunk)
                let range = UInt64(number * Self.chunk)..<UInt64((number + 1) * Self.chunk)
                let neighbour = places[(number + 1) % 6]
                let changes: [Data] = [
                    Data(file.stored[place].map { $0 ^ 0x80 }), Data(count: Self.chunk), foreign[place],
                    file.stored[neighbour..<(neighbour + Self.chunk)],
                ]
                for (way, bytes) in changes.enumerated() {
                    let check = try file.examine(file.stored.replacing(place, by: bytes))
                    #expect(check.findings.map(\.kind) == [.chunk], "\(number) \(way)")
                    #expect(check.lost == [range] && check.isSalvaged)
                    #expect(check.readable == UInt64(file.content.count - Self.chunk))
                    #expect(check.findings[0].text.contains("zeros") == (way == 1))
                    #expect(check.findings[0].text.hasPrefix("bytes \(range.lowerBound) to \(range.upperBound - 1) "))
                }
            }
        }
    }

    @Test("Pages that were zeroed in the midst cost the chunks that they are of")
    func zeroedPages() throws {
        try withFile(3 * Self.group + 12_345) { file throws in
            // Chunks 9, 10 and 11 of the second group, whose chunks begin behind 64 chunks and a table.
            let start = Self.page + Self.group + Self.page + 9 * Self.chunk + 5000
            let check = try file.examine(
                file.stored.replacing(start..<(start + 2 * Self.chunk), by: Data(count: 2 * Self.chunk)))
            let first = UInt64(Self.group + 9 * Self.chunk)
            #expect(check.lost == [first..<(first + UInt64(3 * Self.chunk))])
            #expect(check.isSalvaged)
        }
    }

    @Test("A table that does not open takes all that is below it along, and nothing else", arguments: 0..<4)
    func lowestNode(group: Int) throws {
        try withFile(3 * Self.group + 12_345) { file throws in
            let isLast = group == 3
            let start = Self.page + group * (Self.group + Self.page) + (isLast ? 16_384 : Self.group)
            let check = try file.examine(file.stored.flipping(start + 7))
            #expect(check.findings.map(\.kind) == [.node])
            let first = UInt64(group * Self.group)
            #expect(check.lost == [first..<min(first + UInt64(Self.group), UInt64(file.content.count))])
            #expect(check.isSalvaged)
        }
    }

    @Test("Without the highest table all is lost, and no file of zeros is made")
    func root() throws {
        for length in [5 * Self.chunk, 3 * Self.group] {
            try withFile(length) { file throws in
                let check = try file.examine(file.stored.flipping(file.stored.count - 3))
                #expect(check.findings.map(\.kind) == [.node])
                #expect(check.lost == [0..<UInt64(length)] && check.readable == 0)
                #expect(!check.isSalvaged && !check.isIntact)
            }
        }
    }

    @Test("In a tree of three levels each level costs what is below it")
    func deep() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let length = 17 << 20
            let key = try files.keys.ask(.make(.complete, fileID: UUID()), url.path)
            let new = try Replacement(of: url.path, mode: 0o600, SystemFiles())
            let writer = try SealedFileWriter(
                new.descriptor, url.path, key: key, chunkBits: 12, files: SystemFiles(),
                randomness: SystemRandomness())
            let content = content(length)
            try content.withUnsafeBytes { bytes throws in try writer.finish(bytes) }
            try new.publish(isDurable: false)
            let file = DamagedFile(files: files, url: url, content: content, stored: try Data(contentsOf: url))
            #expect(try file.examine(file.stored).findings.isEmpty)
            // Behind all 68 groups: the nodes of level 2, with 64 groups and with 4, and the root.
            let group = 65 * Self.page
            let middle = Self.page + 68 * group
            let check = try file.examine(file.stored.flipping(middle))
            #expect(check.findings.map(\.kind) == [.node])
            #expect(check.lost == [0..<(16 << 20)] && check.readable == 1 << 20)
        }
    }

    // MARK: Length

    @Test("A file that was cut short is checked as far as it goes")
    func cutShort() throws {
        try withFile(5 * Self.chunk) { file throws in
            for size in [0, 8, 600, 4095] {
                let bytes = file.stored.prefix(size)
                try bytes.write(to: file.url)
                if size < 8 {
                    #expect(throws: DataProtectionError.self) { try file.files.check(file.url) }
                } else {
                    let check = try file.examine(bytes)
                    #expect(!check.isIntact && !check.isSalvaged && check.readable == 0)
                }
            }
            for size in stride(from: 4096, to: file.stored.count, by: 3011) {
                let check = try file.examine(file.stored.prefix(size))
                #expect(check.findings.first?.kind == .cutShort)
                #expect(check.findings.dropFirst().map(\.kind) == [.node])
                #expect(check.findings.last?.text.contains("beyond the end") == true)
            }
        }
        // With the table in front of the last chunks, as after changes in place.
        try withProtectedFiles { files, directory throws in
            let made = try HandmadeFile(files)
            let content = content(4 * Self.chunk)
            let first = try made.add(content.prefix(Self.chunk), index: 0)
            let place = made.bytes.count
            _ = try made.add(Data(count: FileFormat.nodeByteCount), index: 9)
            let others = try (1..<4).map {
                try made.add(content[($0 * Self.chunk)..<(($0 + 1) * Self.chunk)], index: UInt64($0))
            }
            let end = made.bytes.count
            var node = try made.addNode([first] + others)
            made.bytes.replaceSubrange(
                place..<(place + Int(node.length)), with: made.bytes[Int(node.offset)...])
            node.page = UInt64(place / Self.page)
            made.bytes = made.bytes.prefix(end)
            made.put(made.header(root: node, length: content.count))
            let url = directory.appendingPathComponent("file")
            let file = DamagedFile(files: files, url: url, content: content, stored: made.bytes)
            #expect(try file.examine(made.bytes).findings.isEmpty)
            let check = try file.examine(made.bytes.dropLast(Self.chunk + 1))
            #expect(check.findings.map(\.kind) == [.cutShort, .chunk])
            #expect(check.lost == [UInt64(2 * Self.chunk)..<UInt64(4 * Self.chunk)] && check.isSalvaged)
        }
    }

    @Test("Bytes behind the end cost no content")
    func extraBytes() throws {
        try withFile(2 * Self.chunk) { file throws in
            let check = try file.examine(file.stored + Data(count: 1))
            #expect(check.findings.map(\.kind) == [.extraBytes])
            #expect(check.isSalvaged && check.lost.isEmpty)
        }
    }

    // MARK: Headers

    @Test("One damaged copy of the header loses nothing, and is written anew", arguments: [0, 1])
    func oneCopy(number: Int) throws {
        try withFile(5 * Self.chunk, .completeUnlessOpen) { file throws in
            for offset in [0, 9, 12, 70, 300, 470, 511] {
                let bytes = file.stored.flipping(FileFormat.slotOffsets[number] + offset)
                let check = try file.examine(bytes)
                #expect(check.findings.map(\.kind) == [.headerCopy], "at \(offset)")
                #expect(check.canRepairHeader && check.isSalvaged && check.lost.isEmpty)
                #expect(try Data(contentsOf: file.url) == bytes, "a check changes nothing")
                #expect(try file.files.repairHeader(of: file.url))
                #expect(try Data(contentsOf: file.url) == file.stored)
                #expect(try file.files.check(file.url).findings.isEmpty)
            }
        }
    }

    @Test("A copy of the header counts in its own place alone", arguments: [0, 1])
    func copyInOtherPlace(number: Int) throws {
        try withFile(300) { file throws in
            let places = FileFormat.slotOffsets.map { $0..<($0 + FileFormat.slotByteCount) }
            let page = file.stored.replacing(places[number], by: file.stored[places[1 - number]]).prefix(Self.page)
            #expect(FileHeader.intactCopies(in: page) == [number == 1, number == 0])
            #expect(try !FileHeader.inFirstPage(page).areBothWhole)
        }
    }

    @Test("Without both copies of the header all is lost")
    func noCopy() throws {
        try withFile(300) { file throws in
            let check = try file.examine(file.stored.flipping(100).flipping(2148))
            #expect(check.findings.map(\.kind) == [.noHeader])
            #expect(check.length == nil && check.protection == nil && !check.canRepairHeader && !check.isSalvaged)
            try Data(count: 8192).write(to: file.url)
            let error = #expect(throws: DataProtectionError.self) { try file.files.check(file.url) }
            #expect(error?.code == .notProtected)
        }
    }

    @Test("Headers with a checksum that fits, which anyone can make, are told from those of who has the key")
    func forgedHeaders() throws {
        try withFile(300) { file throws in
            for (offset, number) in [(56 + 7, 0), (64 + 7, 1), (13, 0), (200, 1), (150, 0)] {
                let place = FileFormat.slotOffsets[number]..<(FileFormat.slotOffsets[number] + 512)
                var slot = Data(file.stored[place])
                slot[offset] ^= 0x03
                let check = try file.examine(file.stored.replacing(place, by: slot.withFittingChecksum))
                #expect(check.findings.map(\.kind) == [.headerCopy], "at \(offset)")
                #expect(check.isSalvaged && check.lost.isEmpty && !check.canRepairHeader)
                #expect(try !file.files.repairHeader(of: file.url))
            }
        }
    }

    @Test("Of two headers of different files the one counts of which more is there")
    func foreignHeader() throws {
        try withFile(300) { file throws in
            let other = file.url.deletingLastPathComponent().appendingPathComponent("other")
            try file.files.write(content(300, seed: 8), to: other, protection: .complete)
            for classChanges in [0, 2] {
                for _ in 0..<classChanges { try file.files.setProtection(.complete, of: other) }
                let foreign = try Data(contentsOf: other)
                for offset in FileFormat.slotOffsets {
                    let place = offset..<(offset + 512)
                    let check = try file.examine(file.stored.replacing(place, by: foreign[place]))
                    #expect(check.findings.map(\.kind) == [.contradictingHeaders])
                    #expect(check.isSalvaged && check.lost.isEmpty)
                }
            }
        }
    }

    @Test("A file of a newer format is not checked, and not called damaged")
    func newerFormat() throws {
        try withFile(300) { file throws in
            var bytes = file.stored
            for offset in FileFormat.slotOffsets { bytes[offset + 9] = 3 }
            try bytes.write(to: file.url)
            let error = #expect(throws: DataProtectionError.self) { try file.files.check(file.url) }
            #expect(error?.code == .newerFormat)
        }
    }

    @Test("A change of class that was cut short is told of, and is no damage")
    func classChange() throws {
        try withFile(300) { file throws in
            try file.stored.write(to: file.url)
            try file.files.setProtection(.always, of: file.url)
            var bytes = try Data(contentsOf: file.url)
            bytes.replaceSubrange(2048..<2560, with: file.stored[2048..<2560])
            let check = try file.examine(bytes)
            #expect(check.findings.map(\.kind) == [.classChange])
            #expect(check.isIntact && check.protection == .always)
        }
    }

    @Test("So it is of a file that is changed in place")
    func classChangeInPlace() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(content(300), to: url, protection: .complete)
            let handle = try files.open(url, for: .writing)
            try handle.write(Data([1]), at: 5)
            try handle.sync()
            #expect(try files.check(url).findings.isEmpty)
            // The first of the two headers is on the disk, and the second is not written.
            disk.fail(at: 2, .killed)
            #expect(throws: DataProtectionError.self) { try handle.setProtection(.always) }
            disk.fail(at: nil)
            let check = try files.check(url)
            #expect(check.findings.map(\.kind) == [.classChange])
            #expect(check.isIntact && check.protection == .always)
        }
    }

    // MARK: Locked

    @Test("What is locked is not checked, and nothing else is said of it", arguments: FileProtection.allCases)
    func locked(protection: FileProtection) throws {
        try withProtectedFiles { files, directory, keychain throws in
            try keychain.setPasscode("1234")
            let url = directory.appendingPathComponent("file")
            let content = content(3 * Self.chunk)
            try files.write(content, to: url, protection: protection)
            let stored = try Data(contentsOf: url)
            let file = DamagedFile(files: files, url: url, content: content, stored: stored)
            for state in ["locked", "never unlocked"] {
                if state == "locked" { try keychain.lock(.now) } else { keychain.restart() }
                let isOpen =
                    protection == .always
                    || state == "locked" && protection == .completeUntilFirstUserAuthentication
                for bytes in [stored, stored.flipping(5000)] {
                    if isOpen {
                        #expect(try file.examine(bytes).isIntact == (bytes == stored))
                        continue
                    }
                    try bytes.write(to: url)
                    let error = #expect(throws: DataProtectionError.self) { try files.check(url) }
                    #expect(error?.code == .locked)
                    let target = directory.appendingPathComponent("saved")
                    #expect(throws: DataProtectionError.self) { try files.salvage(url, to: target) }
                    #expect(!FileManager.default.fileExists(atPath: target.path))
                }
            }
        }
    }

    @Test("What is there already is never replaced by what is saved")
    func existing() throws {
        try withFile(3 * Self.chunk) { file throws in
            try file.stored.flipping(5000).write(to: file.url)
            let target = file.url.deletingLastPathComponent().appendingPathComponent("saved")
            try Data("mine".utf8).write(to: target)
            let error = #expect(throws: DataProtectionError.self) { try file.files.salvage(file.url, to: target) }
            #expect(error?.errno == EEXIST)
            #expect(try Data(contentsOf: target) == Data("mine".utf8))
        }
    }
}

/// A file that is given other bytes, and what it should hold.
struct DamagedFile {
    let files: ProtectedFiles
    let url: URL
    let content: Data
    let stored: Data

    /// Checks these bytes and saves what can be saved, which must be the content but for zeros in the ranges that are
    /// called lost.
    func examine(_ bytes: Data, content other: Data? = nil) throws -> ProtectedFileCheck {
        let content = other ?? content
        try Data(bytes).write(to: url)
        let target = url.deletingLastPathComponent().appendingPathComponent("saved-\(UUID().uuidString)")
        let check = try files.check(url)
        let salvage = try files.salvage(url, to: target)
        #expect(salvage.findings == check.findings && salvage.readable == check.readable)
        #expect(try Data(contentsOf: url) == bytes)
        #expect(FileManager.default.fileExists(atPath: target.path) == salvage.isSalvaged)
        // Readers find nothing either.
        var read: Data?
        do throws(DataProtectionError) { read = try files.read(from: url) } catch { #expect(error.code != .locked) }
        if check.isIntact { #expect(read == content) }
        #expect(read == nil || read == content)
        guard salvage.isSalvaged else { return salvage }
        var expected = content
        for range in salvage.lost {
            let range = Int(range.lowerBound)..<Int(range.upperBound)
            expected.replaceSubrange(range, with: Data(count: range.count))
        }
        #expect(try files.read(from: target) == expected)
        #expect(try files.protection(of: target) == salvage.protection)
        try FileManager.default.removeItem(at: target)
        return salvage
    }
}

extension Data {
    func flipping(_ offset: Int) -> Data {
        var bytes = Data(self)
        bytes[offset] ^= 0x01
        return bytes
    }

    func replacing(_ range: Range<Int>, by other: Data) -> Data {
        var bytes = Data(self)
        bytes.replaceSubrange(range, with: other)
        return bytes
    }

    /// A copy of a header with the checksum that its bytes ask for.
    var withFittingChecksum: Data {
        var digest = Data(count: 32)
        digest.withUnsafeMutableBytes { digest in
            prefix(496).withUnsafeBytes { SHA256State.hash($0, into: digest) }
        }
        return replacing(496..<512, by: digest.prefix(16))
    }
}
