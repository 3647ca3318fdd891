import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainEngine
@testable import KeychainSalvage

/// Pages that somebody made to look like a damaged store's.
@Suite struct LoosePageTests {
    private static let pageSize = 4096
    /// Such that little of the record is in the first page.
    private static let metadataSize = (4 << 20) + 383

    @Test("Holes of a file are passed over, so that a sparse file of terabytes takes no work")
    func holes() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("sparse")
            try Data("begin".utf8).write(to: url)
            try #require(truncate(url.path, 1 << 40) == 0 && chmod(url.path, 0o600) == 0)
            let file = try #require(try FileBytes(url))
            #expect(file.contentRanges.first?.lowerBound == 0)
            #expect(file.contentRanges.map(\.count).reduce(0, +) < 1 << 20)
        }
    }

    /// A number of SQLite's, of one to nine bytes.
    private func varint(_ value: Int) -> [UInt8] {
        var groups = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            groups.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return groups
    }

    /// The beginning of a row of the table `item` whose metadata goes on in other pages.
    private var record: [UInt8] {
        func blob(_ size: Int) -> Int { 12 + 2 * size }
        let types = [0, blob(16), 8, 9, 9, blob(16), blob(1), blob(16), blob(40), blob(Self.metadataSize), 0, 0]
        let header = types.flatMap(varint)
        return varint(header.count + 1) + header
    }

    /// - Parameter next: Of the second page and those behind it, which one each leads to.
    private func recordsFound(next: [Int], recordCount: Int = 100) throws -> (found: Int, readings: Int) {
        try withTemporaryDirectory { directory in
            var first = [UInt8]("SQLite format 3\0".utf8) + [0x10, 0] + [UInt8](repeating: 0, count: 82)
            for _ in 0..<recordCount where first.count < Self.pageSize - 1_500 { first += record }
            // Records have a multiple of four bytes, and so has their part in the page, behind which the next page stands.
            while first.count < Self.pageSize { first += [0, 0, 0, 2] }
            var file = Data(first.prefix(Self.pageSize))
            for page in next {
                file += withUnsafeBytes(of: UInt32(page).bigEndian) { Data($0) } + Data(count: Self.pageSize - 4)
            }
            let url = directory.appendingPathComponent("keychain.db")
            try file.write(to: url)
            let pages = try LoosePages(url)
            var found = 0
            try pages.forEachRow({ _, _ in }) { _ in found += 1 }
            return (found, pages.chainedPagesRead)
        }
    }

    @Test("A record whose pages lead round is none")
    func round() throws {
        #expect(try recordsFound(next: [2]).found == 0)
        #expect(try recordsFound(next: [3, 4, 2]).found == 0)
    }

    @Test("Records that all lead to the same pages do not make the search endless")
    func shared() throws {
        let count = Self.metadataSize / (Self.pageSize - 4) + 2
        let result = try recordsFound(next: (0..<count).map { $0 + 3 })
        #expect(result.found > 0 && result.found <= 20)
        #expect(result.readings <= 16 * (count + 65))
    }
}
