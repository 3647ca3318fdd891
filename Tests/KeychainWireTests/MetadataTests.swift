import Foundation
import KeychainCrypto
import KeychainModel
import KeychainWire
import Testing

@Suite struct MetadataTests {
    private func decode(_ bytes: some Collection<UInt8>) throws -> (item: Item, secretTag: Data?) {
        try Data(bytes).withUnsafeBytes { bytes in
            try Item.decode(metadata: bytes, of: .genericPassword, UUID(), AccessControl(.always))
        }
    }

    @Test("Metadata comes back as it was, whatever its values are")
    func roundTrip() throws {
        let item = Item(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [
                .account: .text("\u{1F511}"), .service: .data(Data([0, 0xff, 0x80])), .port: .number(.min),
                .label: .text(""), .comment: .data(Data()), .startDate: .date(0),
            ],
            accessGroup: "G\u{0}\n", synchronizable: true, accessControl: AccessControl(.always), created: -1.5,
            modified: .greatestFiniteMagnitude)
        let tag = Data(repeating: 7, count: 16)
        let (decoded, secretTag) = try decode(item.encodedMetadata(secretTag: tag))
        #expect(secretTag == tag)
        #expect(try decode(item.encodedMetadata()).secretTag == nil)
        #expect(decoded.accessGroup == item.accessGroup)
        #expect(decoded.synchronizable)
        #expect(decoded.created == -1.5 && decoded.modified == .greatestFiniteMagnitude)
        #expect(decoded.attributes == item.attributes)
    }

    @Test("Bytes that are no metadata are refused", arguments: [Data([0xff]), Data([0x3a, 0x02, 0x0a])])
    func refusesGarbage(bytes: Data) {
        let error = #expect(throws: KeychainError.self) {
            try decode(bytes)
        }
        #expect(error?.code == .decode)
    }

    @Test("An attribute without a value is refused")
    func refusesMissingValue() {
        // Field 6, four bytes: a code alone.
        let bytes = Data([0x32, 0x04, 1, 2, 3, 4])
        #expect(throws: KeychainError.self) { try decode(bytes) }
    }
}
