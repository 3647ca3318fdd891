import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

@Suite struct AttemptRecordTests {
    private let storeID = UUID(uuidString: "00000000-0000-4000-8000-000000000001")!
    private let record = AttemptRecord(
        count: 3, time: 90_000_000_000, bootID: UUID(uuidString: "00000000-0000-4000-8000-000000000009")!,
        fingerprint: Data(repeating: 0xf1, count: 32))

    private func encode(_ record: AttemptRecord) throws -> Data {
        record.encoded(storeID: storeID, deviceKey: try .repeating(1))
    }

    private func decode(_ bytes: Data) throws -> AttemptRecord? {
        AttemptRecord(decoding: bytes, storeID: storeID, deviceKey: try .repeating(1))
    }

    @Test("A record comes back as it was, whatever marks it has", arguments: [false, true], [false, true])
    func roundTrip(hasFingerprint: Bool, isAfterDamage: Bool) throws {
        var record = record
        if !hasFingerprint { record.fingerprint = nil }
        record.isAfterDamage = isAfterDamage
        let bytes = try encode(record)
        #expect(bytes.count == 115)
        #expect(bytes[50] == (hasFingerprint ? 1 : 0) + (isAfterDamage ? 2 : 0))
        #expect(try decode(bytes) == record)
    }

    @Test("The largest count and time come back as they were")
    func extremes() throws {
        let record = AttemptRecord(count: .max, time: .max, bootID: UUID())
        #expect(try decode(encode(record)) == record)
    }

    @Test("Every flipped byte is noticed")
    func flips() throws {
        let bytes = try encode(record)
        for place in bytes.indices { #expect(try decode(bytes.flipping(place)) == nil) }
    }

    @Test("Every shortened or lengthened form is noticed")
    func lengths() throws {
        let bytes = try encode(record)
        for count in 0..<bytes.count { #expect(try decode(bytes.prefix(count)) == nil) }
        #expect(try decode(bytes + [0]) == nil)
    }

    @Test("A record counts for its own store and device key alone")
    func elsewhere() throws {
        let bytes = try encode(record)
        let deviceKey = try KeyMaterial.repeating(1)
        #expect(AttemptRecord(decoding: bytes, storeID: UUID(), deviceKey: deviceKey) == nil)
        #expect(AttemptRecord(decoding: bytes, storeID: storeID, deviceKey: try .repeating(2)) == nil)
    }
}
