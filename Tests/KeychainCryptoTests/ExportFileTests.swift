import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto
@testable import KeychainTransfer

/// What an export is worth that was changed, cut short or put together from others.
@Suite struct ExportFileTests {
    private let chunk = ExportChunk.sealedByteCount
    private let start = ExportKey.headerByteCount

    private func code(_ file: Data, passphrase: String = exportPassphrase) -> KeychainError.Code? {
        do throws(KeychainError) {
            _ = try imported(file, passphrase: passphrase)
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Round trips

    @Test(
        "Any bytes come back as they were, as secret and as attribute",
        arguments: [
            Data(), Data([0]), Data([0xff, 0xfe, 0x00, 0xc3, 0x28]), Data("line\n".utf8), Data(count: 65_536),
            Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        ])
    func bytes(_ bytes: Data) throws {
        let items = [Item.fixture(.data(bytes), secret: bytes), .fixture(.text("b"), secret: nil)]
        let content = try imported(try exported(items, .fixture()))
        #expect(content.items.map(\.described) == items.map(\.described))
        #expect(content.items[1].secret == nil)
    }

    @Test("A secret of 20 MB comes back as it was")
    func large() throws {
        let secret = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        let content = try imported(try exported([.fixture(secret: secret), .fixture()], .fixture()))
        #expect(content.items[0].secret?.copyData() == secret)
        #expect(content.summary.items == 2)
    }

    @Test("Every length of the content around the size of a chunk comes back")
    func lengths() throws {
        let overhead = try exported([.fixture(secret: Data())], .fixture()).count - start - AESGCM.tagByteCount
        for count in (ExportChunk.byteCount - overhead - 3)...(ExportChunk.byteCount - overhead + 3) {
            let secret = Data(repeating: 7, count: count)
            let file = try exported([.fixture(secret: secret)], .fixture())
            #expect(try imported(file).items.first?.secret?.copyData() == secret, "\(count)")
        }
    }

    @Test("An export of nothing is one all the same")
    func empty() throws {
        var leftOut = LeftOut()
        (leftOut.thisDeviceOnly, leftOut.constrained, leftOut.ofTokens, leftOut.unreadable) = (1, 2, 3, 4)
        let content = try imported(try exported([], .fixture(), leftOut: leftOut))
        #expect(content.items.isEmpty)
        #expect(content.summary == ExportSummary(items: 0, leftOut: leftOut))
    }

    // MARK: Damage

    @Test("Cut short anywhere, a file is refused")
    func truncated() throws {
        let file = try exported([.fixture(), .fixture(.text("b"))], .fixture())
        for count in 0..<file.count {
            let code = code(file.prefix(count))
            #expect(code == (count < 8 ? .parameter : .decode), "\(count) bytes")
        }
    }

    @Test("Cut short between two chunks, a file is refused")
    func cutBetweenChunks() throws {
        let file = try exported([.fixture(secret: Data(count: 300_000))], .fixture())
        for number in 0...4 { #expect(code(file.prefix(start + number * chunk)) == .decode) }
    }

    @Test("With any byte changed, a file is refused, and no item of it is other than it was")
    func flipped() throws {
        let file = try exported([.fixture(), .fixture(.text("b"))], .fixture())
        for place in file.indices {
            let code = code(file.flipping(place))
            switch place {
            case 0..<10: #expect(code == .parameter, "byte \(place)")
            // Parameters that no file has are refused before they are used.
            case 10..<19: #expect(code == .decode || code == .authenticationFailed, "byte \(place)")
            case 19..<83: #expect(code == .authenticationFailed, "byte \(place)")
            default: #expect(code == .decode, "byte \(place)")
            }
        }
    }

    @Test("Chunks that are exchanged, doubled, left out or added are noticed")
    func chunks() throws {
        let key = try ExportKey.fixture()
        let file = try exported([.fixture(secret: Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }))], key)
        let header = file.prefix(start)
        let chunks = stride(from: start, to: file.count, by: chunk).map { file[$0..<min($0 + chunk, file.count)] }
        try #require(chunks.count == 5)
        func joined(_ numbers: [Int]) -> Data { numbers.reduce(header) { $0 + chunks[$1] } }
        #expect(code(joined([0, 1, 2, 3, 4])) == nil)
        for order in [
            [1, 0, 2, 3, 4], [0, 2, 1, 3, 4], [0, 0, 1, 2, 3, 4], [0, 1, 3, 4], [1, 2, 3, 4], [0, 1, 2, 3],
            [0, 1, 2, 3, 4, 4], [4], [],
        ] { #expect(code(joined(order)) == .decode, "\(order)") }
        for more in [1, 16, 17, chunk] { #expect(code(file + Data(count: more)) == .decode, "\(more) bytes more") }
    }

    @Test("A chunk of another file does not open, though the passphrase is the same")
    func otherFile() throws {
        let (one, two) = (try exported([.fixture()], .fixture()), try exported([.fixture()], .fixture()))
        #expect(code(one.prefix(start) + two.dropFirst(start)) == .decode)
        #expect(code(two.prefix(start) + one.dropFirst(start)) == .decode)
    }

    // MARK: Passphrases

    @Test("A wrong passphrase is told from damage, before anything is opened", arguments: ["Open sesame", "x"])
    func wrongPassphrase(_ passphrase: String) throws {
        let file = try exported([.fixture()], .fixture())
        #expect(code(file, passphrase: passphrase) == .authenticationFailed)
        #expect(code(file.prefix(start), passphrase: passphrase) == .authenticationFailed)
        #expect(code(file.flipping(100), passphrase: passphrase) == .authenticationFailed)
    }

    @Test("A file is committed to one key: the commitment of another passphrase does not make it open under that")
    func commitment() throws {
        let (one, two) = (try ExportKey.fixture("one"), try ExportKey.fixture("two"))
        #expect(one.header.suffix(32) != two.header.suffix(32))
        let file = try exported([.fixture()], one)
        let grafted = one.header.prefix(51) + two.header.suffix(32) + file.dropFirst(start)
        for passphrase in ["one", "two"] { #expect(code(grafted, passphrase: passphrase) == .authenticationFailed) }
    }

    @Test(
        "What is no passphrase makes no export",
        arguments: [
            (Data(), .parameter), (Data([0xff]), .decode), (Data(repeating: 0x61, count: 1025), .dataTooLarge),
        ] as [(Data, KeychainError.Code)])
    func noPassphrase(_ bytes: Data, _ code: KeychainError.Code) throws {
        let error = #expect(throws: KeychainError.self) { try ExportKey(new: SecretBytes(copying: bytes), cost: 1) }
        #expect(error?.code == code)
    }

    // MARK: Versions and parameters

    @Test("A newer format is refused, and the message says so")
    func newer() throws {
        var file = try exported([.fixture()], .fixture())
        file[9] = 2
        let error = #expect(throws: KeychainError.self) { try imported(file) }
        #expect(error?.code == .parameter)
        #expect(error?.message.contains("newer version") == true)
    }

    @Test("What is no export is refused", arguments: [Data(), Data("hello".utf8), Data(count: 5000)])
    func foreign(_ file: Data) { #expect(code(file) == .parameter) }

    @Test("Parameters that would ask for more memory than any real ones are refused", arguments: [10, 11, 15])
    func forgedParameters(_ place: Int) throws {
        var file = try exported([.fixture()], .fixture())
        file[place] = 0x7f
        #expect(code(file) == .decode)
    }

    @Test("A real export costs what the document says")
    func defaultCost() throws {
        let key = try ExportKey(new: SecretBytes(copying: Data("x".utf8)))
        #expect(key.header[10..<19] == Data([17, 0, 0, 0, 8, 0, 0, 0, 1]))
    }

    // MARK: Entries that somebody sealed who knows the passphrase

    private func sealed(_ content: Data, _ key: ExportKey) throws -> Data {
        let chunk = ExportChunk(key.chunkKey)
        chunk.content.copyBytes(from: content)
        try chunk.seal(content.count, isLast: true)
        return key.header + Data(chunk.sealed(content.count))
    }

    private func entry(_ item: Item, _ change: (inout Data) -> Void = { _ in }) throws -> Data {
        let metadata = ExportedItem.metadata(of: item)
        var entry = ExportedItem.head(of: item, metadataCount: metadata.count) + metadata
        entry += item.secret?.copyData() ?? Data()
        change(&entry)
        return entry
    }

    @Test("An entry that stands for no item is passed over, and the others are read")
    func unreadableEntries() throws {
        let key = try ExportKey.fixture()
        let bad = try [
            entry(.fixture()) { $0[1] = 9 }, entry(.fixture()) { $0[2] = 99 }, entry(.fixture()) { $0[23] = 2 },
            entry(.fixture()) { $0[23] = 0 }, entry(.fixture()) { $0[32] = 0xff },
        ]
        var content = Data()
        for entry in bad { content += entry }
        content += try entry(.fixture(.text("good")))
        let end = ExportRecord.endBytes(ExportSummary(items: bad.count + 1, leftOut: LeftOut()))
        let opened = try imported(try sealed(content + end, key), key)
        #expect(opened.unreadable == bad.count)
        #expect(opened.items.first?.attributes[.account] == .text("good"))
    }

    @Test("An entry of another kind, one longer than the file, another count and bytes after the end are refused")
    func malformed() throws {
        let key = try ExportKey.fixture()
        func end(_ items: Int) -> Data { ExportRecord.endBytes(ExportSummary(items: items, leftOut: LeftOut())) }
        let good = try entry(.fixture())
        let longSecret = try entry(.fixture()) { $0[28] = 0xff }
        let longMetadata = try entry(.fixture()) { $0[24] = 0xff }
        let contents: [[Data]] = [
            [good], [good, end(2)], [end(1)], [good, end(1), Data([0])], [good, end(1), end(1)], [Data([3]), end(0)],
            [good.dropLast(), end(1)], [longSecret, end(1)], [longMetadata, end(1)], [good.prefix(20)],
            [end(0).dropLast()], [Data([2]), Data(repeating: 0xff, count: 40)],
        ]
        for content in contents {
            let content = Data(content.joined())
            let file = try sealed(content, key)
            let error = #expect(throws: KeychainError.self) { try imported(file, key) }
            #expect(error?.code == .decode)
        }
    }

    // MARK: What it shows

    @Test("No value, group or secret is in the file, in clear or as a digest of its own")
    func needles() throws {
        let item = Item.fixture(.text("needle-account"), secret: Data("needle-secret".utf8))
        let file = try exported([item], .fixture())
        for needle in ["needle-account", "needle-secret"] { #expect(file.range(of: Data(needle.utf8)) == nil) }
        #expect(file.range(of: try ExportedItem.digest(of: item).prefix(16)) == nil)
    }

    @Test("Equal items have equal digests in whatever order their attributes are, and others have others")
    func digests() throws {
        var item = Item.fixture()
        let digest = try ExportedItem.digest(of: item)
        item.attributes = [.service: .text("s"), .account: .text("a")]
        #expect(try ExportedItem.digest(of: item) == digest)
        item.secret = nil
        let withoutSecret = try ExportedItem.digest(of: item)
        item.secret = SecretBytes(copying: Data())
        #expect(try ExportedItem.digest(of: item) != withoutSecret)
        #expect(withoutSecret != digest)
    }
}
