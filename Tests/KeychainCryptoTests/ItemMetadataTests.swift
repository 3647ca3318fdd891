import Foundation
import KeychainCrypto
import KeychainModel
import Testing

@Suite struct ItemMetadataTests {
    @Test("Metadata comes back as it was, whatever its values are")
    func roundTrip() throws {
        let metadata = ItemMetadata(
            accessGroup: "G\u{0}\n", synchronizable: true, created: -1.5, modified: .greatestFiniteMagnitude,
            attributes: [
                .account: .text("\u{1F511}"), .service: .data(Data([0, 0xff, 0x80])), .port: .number(.min),
                .label: .text(""), .comment: .data(Data()), .startDate: .date(0),
            ])
        let decoded = try metadata.encoded().withUnsafeBytes { try ItemMetadata(decoding: $0) }
        #expect(decoded.accessGroup == metadata.accessGroup)
        #expect(decoded.synchronizable)
        #expect(decoded.created == -1.5 && decoded.modified == .greatestFiniteMagnitude)
        #expect(decoded.attributes == metadata.attributes)
    }

    @Test("Bytes that are no metadata are refused", arguments: [Data([0xff]), Data([0x3a, 0x02, 0x0a])])
    func refusesGarbage(bytes: Data) {
        let error = #expect(throws: KeychainError.self) {
            try bytes.withUnsafeBytes { try ItemMetadata(decoding: $0) }
        }
        #expect(error?.code == .decode)
    }

    @Test("An attribute without a value is refused")
    func refusesMissingValue() {
        // Field 6, four bytes: a code alone.
        let bytes = Data([0x32, 0x04, 1, 2, 3, 4])
        #expect(throws: KeychainError.self) { try bytes.withUnsafeBytes { try ItemMetadata(decoding: $0) } }
    }
}
