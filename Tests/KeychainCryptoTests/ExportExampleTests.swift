import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto
@testable import KeychainTransfer

/// The worked example of docs/export-format.md, which was computed by another implementation.
@Suite struct ExportExampleTests {
    private struct Example: Decodable {
        var passphrase: String
        var salt: HexBytes
        var log2N: UInt8
        var scryptOutput: HexBytes
        var commitment: HexBytes
        var chunkKey: HexBytes
        var password: HexBytes
        var passwordDigest: HexBytes
        var withoutSecret: HexBytes
        var end: HexBytes
        var file: HexBytes
        var longFileCount: Int
        var longFileDigest: HexBytes
        var fullSecretCount: Int
        var fullFileDigest: HexBytes
    }

    private let example: Example
    private let key: ExportKey

    init() throws {
        let example: Example = try Vectors.load("export-example")
        self.example = example
        key = try ExportKey(
            new: SecretBytes(copying: Data(example.passphrase.utf8)), cost: example.log2N,
            randomness: FixedBytes(data: example.salt.data))
    }

    private var password: Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(Data(hex: "202122232425462788292a2b2c2d2e2f")),
            // In another order than the file's.
            attributes: [.service: .text("mail"), .account: .text("alice")], accessGroup: "mytool",
            synchronizable: false, accessControl: AccessControl(.whenUnlocked), created: 800_000_000,
            modified: 800_000_060.5, secret: SecretBytes(copying: Data("hunter2".utf8)))
    }

    private var withoutSecret: Item {
        Item(
            itemClass: .internetPassword, identifier: UUID(Data(hex: "303132333435463788393a3b3c3d3e3f")),
            attributes: [
                .server: .text("h.example"), .account: .data(Data([0, 0xff])), .port: .number(443), .path: .text(""),
                .securityDomain: .text(""), .internetProtocol: .number(0), .authenticationType: .text(""),
            ], accessGroup: "mytool", synchronizable: true, accessControl: AccessControl(.afterFirstUnlock),
            created: 800_000_000, modified: 800_000_000)
    }

    private var leftOut: LeftOut {
        var leftOut = LeftOut()
        leftOut.thisDeviceOnly = 1
        leftOut.constrained = 2
        return leftOut
    }

    private func long(_ secret: Data) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(Data(hex: "404142434445464788494a4b4c4d4e4f")),
            attributes: [.account: .text("long"), .service: .text("mail")], accessGroup: "mytool",
            synchronizable: false, accessControl: AccessControl(.whenUnlocked), created: 800_000_000,
            modified: 800_000_000, secret: SecretBytes(copying: secret))
    }

    @Test("The keys and the commitment are those of the document")
    func keys() {
        #expect(key.header.count == 83)
        #expect(key.header.suffix(32) == example.commitment.data)
        #expect(key.chunkKey.data == example.chunkKey.data)
    }

    @Test("The file is that of the document, byte for byte")
    func file() throws {
        #expect(try exported([password, withoutSecret], key, leftOut: leftOut) == example.file.data)
        #expect(try ExportedItem.digest(of: password) == example.passwordDigest.data)
        #expect(try ExportedItem.digest(of: password) == digest(example.password.data))
    }

    @Test("The document's file opens, and gives what went into it")
    func opens() throws {
        let content = try imported(example.file.data, passphrase: example.passphrase)
        #expect(content.items.count == 2)
        #expect(content.items.map(\.described) == [password.described, withoutSecret.described])
        #expect(content.summary == ExportSummary(items: 2, leftOut: leftOut))
    }

    @Test("Chunks follow each other as in the document, also where the last one is full")
    func chunks() throws {
        let file = try exported([long(Data(count: 200_000))], key)
        #expect(file.count == example.longFileCount)
        #expect(digest(file) == example.longFileDigest.data)
        let full = try exported([long(Data(repeating: 0x5a, count: example.fullSecretCount))], key)
        #expect((full.count - 83) % ExportChunk.sealedByteCount == 0)
        #expect(digest(full) == example.fullFileDigest.data)
        for bytes in [file, full] {
            #expect(try imported(bytes, passphrase: example.passphrase).items.count == 1)
        }
    }

    private func digest(_ data: Data) -> Data {
        var digest = Data(count: 32)
        data.withUnsafeBytes { data in digest.withUnsafeMutableBytes { SHA256State.hash(data, into: $0) } }
        return digest
    }
}

/// These bytes, once.
private struct FixedBytes: Randomness {
    let data: Data

    func fill(_ bytes: UnsafeMutableRawBufferPointer) { bytes.copyBytes(from: data) }
}
