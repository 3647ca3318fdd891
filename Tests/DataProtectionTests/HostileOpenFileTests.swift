import Foundation
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto

/// Files that somebody made who has a key for them, opened to be changed: anybody can make one of class B.
@Suite struct HostileOpenFileTests {
    private static let chunk = 16_384

    private func withMade(_ body: (HandmadeFile, ProtectedFiles, URL) throws -> Void) throws {
        try withProtectedFiles { files, directory throws in
            try body(
                try HandmadeFile(files, .completeUnlessOpen), files, directory.appendingPathComponent("file"))
        }
    }

    @Test("A chunk that has more than its content is refused by whoever changes it")
    func longChunk() throws {
        let changes: [(ProtectedFileHandle) throws -> Void] = [
            { try $0.write(Data("x".utf8), at: 0) },
            { try $0.append(Data("x".utf8)) },
            { try $0.truncate(to: 50) },
            { try $0.punch(10..<20) },
        ]
        for (number, change) in changes.enumerated() {
            try withMade { made, files, url throws in
                let root = try made.add(content(Self.chunk), index: 0)
                made.put(made.header(root: root, length: 100))
                try made.bytes.write(to: url)
                let handle = try files.open(url, for: .writing)
                let error = #expect(throws: DataProtectionError.self, "\(number)") { try change(handle) }
                #expect(error?.code == .tampered, "\(number)")
            }
        }
    }

    @Test("Entries that lead nowhere, or to the header, are no places to write to")
    func places() throws {
        for page in [0, 1 << 28, 1 << 40, 1 << 60, .max] as [UInt64] {
            for cut in [true, false] {
                try withMade { made, files, url throws in
                    var entries = try (0..<3).map { try made.add(content(Self.chunk), index: UInt64($0)) }
                    entries[1].page = page
                    let root = try made.addNode(entries)
                    made.put(made.header(root: root, length: 3 * Self.chunk))
                    try made.bytes.write(to: url)
                    let handle = try files.open(url, for: .writing)
                    if cut { try handle.truncate(to: 0) } else { try handle.punch(0..<UInt64(3 * Self.chunk)) }
                    try handle.sync()
                    for round in 0..<40 {
                        let new = content(3 * Self.chunk, seed: UInt64(round))
                        try handle.write(new, at: 0)
                        if round % 3 == 0 { try handle.sync() }
                        #expect(try handle.read(at: 0, count: 3 * Self.chunk) == new, "\(page), \(round)")
                    }
                    let last = try handle.read(at: 0, count: 3 * Self.chunk)
                    try handle.close()
                    #expect(try files.read(from: url) == last, "\(page)")
                }
            }
        }
    }

    @Test("A change that begins under one content key and ends under the next is read again")
    func nextContentKey() throws {
        try withMade { made, files, url throws in
            made.writeCount = (1 << FileFormat.epochBits) - 6
            let entries = try (0..<3).map { try made.add(content(Self.chunk), index: UInt64($0)) }
            made.put(made.header(root: try made.addNode(entries), length: 3 * Self.chunk))
            try made.bytes.write(to: url)
            let handle = try files.open(url, for: .writing)
            // The chunk has the last number of a key, and the node above it the first one of the next.
            try handle.write(Data("new".utf8), at: 5)
            let expected = content(Self.chunk).prefix(5) + Data("new".utf8) + content(Self.chunk)[8...]
            #expect(try files.open(url).read(at: 0, count: Self.chunk) == expected)
        }
    }

    @Test("A file that has counted nearly as far as there are numbers is refused")
    func counters() throws {
        for (writeCount, sequence) in [(UInt64.max, 1), (1 << 62, 1), (5, .max - 1), (5, 1 << 62)] as [(UInt64, UInt64)]
        {
            try withMade { made, files, url throws in
                let root = try made.add(content(100), index: 0)
                made.writeCount = writeCount
                made.put(made.header(root: root, length: 100, sequence: sequence))
                try made.bytes.write(to: url)
                let error = #expect(throws: DataProtectionError.self) {
                    let handle = try files.open(url, for: .writing)
                    try handle.write(Data("x".utf8), at: 0)
                }
                #expect(error?.code == .tampered)
            }
        }
    }

    // MARK: What was sealed for something else

    /// Why a file of two chunks is refused whose entries are changed after the chunks were sealed.
    private func refusal(ofChanged change: (inout [FileEntry]) -> Void) throws -> DataProtectionError.Code? {
        var refusal: DataProtectionError.Code?
        try withMade { made, files, url throws in
            let whole = content(2 * Self.chunk)
            var entries = [
                try made.add(whole.prefix(Self.chunk), index: 0), try made.add(whole.suffix(Self.chunk), index: 1),
            ]
            change(&entries)
            made.put(made.header(root: try made.addNode(entries), length: 2 * Self.chunk))
            try made.bytes.write(to: url)
            do throws(DataProtectionError) { _ = try files.read(from: url) } catch { refusal = error.code }
        }
        return refusal
    }

    @Test("A file whose entries are as its chunks were sealed is read")
    func unchanged() throws {
        #expect(try refusal { _ in } == nil)
    }

    @Test("Two chunks of a file that have changed places with their entries are refused")
    func exchangedChunks() throws {
        #expect(try refusal { $0.swapAt(0, 1) } == .tampered)
    }

    @Test("An older chunk that is given out as what a later write has left is refused")
    func olderChunk() throws {
        #expect(try refusal { $0[0].writeCount = $0[1].writeCount } == .tampered)
    }

    @Test("A chunk of content that has the form of a table is refused as one")
    func chunkAsTable() throws {
        try withMade { made, files, url throws in
            let entries = try (0..<2).map { try made.add(content(Self.chunk), index: UInt64($0)) }
            let chunk = try made.add(HandmadeFile.encoded(entries), level: 0, index: 0)
            made.put(made.header(root: chunk, length: 2 * Self.chunk))
            try made.bytes.write(to: url)
            let error = #expect(throws: DataProtectionError.self) { try files.read(from: url) }
            #expect(error?.code == .tampered)
        }
    }
}
