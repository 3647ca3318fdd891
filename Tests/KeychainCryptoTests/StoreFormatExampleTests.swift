import Foundation
import KeychainCrypto
import KeychainModel
import Testing

/// The worked example of docs/store-format.md, which was computed by another implementation.
@Suite struct StoreFormatExampleTests {
    @Test("A sealed secret is that of the document")
    func secret() throws {
        let binding = RowBinding(
            storeID: documentedStoreID, rowID: identifier("202122232425462788292a2b2c2d2e2f"),
            itemClass: .genericPassword, accessControl: AccessControl(.whenUnlocked), version: 1)
        let randomness = ScriptedRandomness { _, place in place < 32 ? 0x5e : 0x0a }
        let sealed = try KeyMaterial.repeating(0xc6).withUnsafeBytes { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                try SecretBytes(copying: Data("hunter2".utf8)).withUnsafeBytes { secret throws(KeychainError) in
                    try sealer.seal(secret, as: .secret, randomness: randomness)
                }
            }
        }
        #expect(
            sealed.wrappedKey
                == Data(
                    hex: "5a544a2634dea9c02c8f22f63a94ceb765a9cc476e46e38bb829d3c12f741f058e0328de9570a359"))
        #expect(
            sealed.box
                == Data(
                    hex: "0a0a0a0a0a0a0a0a0a0a0a0aa0ae384f130433bca782c130c7c56dded933deacde477fd69717be5ff90ab965"
                        + "223571eb00460b41ee5b56659a7fee1a"))
        #expect(sealed.tag == Data(hex: "223571eb00460b41ee5b56659a7fee1a"))
    }

    @Test("Tokens are those of the document")
    func tokens() throws {
        let indexer = try Indexer.repeating(0x20)
        func bytes(_ token: IndexToken) -> Data { token.withUnsafeBytes { Data($0) } }
        #expect(
            bytes(indexer.token(for: .account, of: .genericPassword, value: .text("alice")))
                == Data(hex: "9479a56b963aa4bb5d9aeddd2bd51d2a"))
        #expect(
            bytes(indexer.homeToken(itemClass: .genericPassword, accessGroup: "mytool", synchronizable: false))
                == Data(hex: "9fcf17f3b845a17469251dca645559fa"))
        #expect(
            bytes(
                indexer.uniquenessToken(
                    itemClass: .genericPassword, accessGroup: "mytool", synchronizable: false,
                    attributes: [.account: .text("alice"), .service: .text("mail")]))
                == Data(hex: "797ae452ab88935e8a957c01f9f637c7"))
    }

    private var documentedStoreID: UUID { identifier("101112131415461788191a1b1c1d1e1f") }

    private func identifier(_ hex: String) -> UUID {
        Data(hex: hex).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// Gives bytes by the number of the call and their place in it.
private final class ScriptedRandomness: Randomness, @unchecked Sendable {  // used by one test alone
    private let byte: (_ call: Int, _ place: Int) -> UInt8
    private var calls = 0

    init(_ byte: @escaping (_ call: Int, _ place: Int) -> UInt8) { self.byte = byte }

    func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        for place in bytes.indices { bytes[place] = byte(calls, place) }
        calls += 1
    }
}
