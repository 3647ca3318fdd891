import Foundation
import KeychainCrypto
import KeychainModel
import Testing

@Suite struct KeybagTests {
    private let storeID = UUID(uuidString: "00000000-0000-4000-8000-000000000001")!

    private func makeBytes() throws -> Data {
        let deviceKey = try KeyMaterial.repeating(1)
        return try Keybag.make(storeID: storeID, deviceKey: deviceKey, randomness: SystemRandomness())
            .encoded(deviceKey: deviceKey)
    }

    @Test("A keybag comes back as it was, with a key for each class but the one that needs a passcode")
    func roundTrip() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        let keybag = try Keybag.make(storeID: storeID, deviceKey: deviceKey, randomness: SystemRandomness())
        let decoded = try Keybag(decoding: keybag.encoded(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(decoded == keybag)
        let keys = try decoded.unwrap(deviceKey: deviceKey)
        #expect(Set(keys.keys) == Set(KeyName.withoutPasscode))
        #expect(keys[.itemClass(.whenPasscodeSetThisDeviceOnly)] == nil)
        #expect(Set(keys.values.map { $0.withUnsafeBytes { Data($0) } }).count == keys.count)
    }

    @Test("Every flipped byte is noticed")
    func flips() throws {
        let bytes = try makeBytes()
        for place in bytes.indices {
            #expect(throws: KeychainError.self) {
                try Keybag(decoding: bytes.flipping(place), deviceKey: .repeating(1))
            }
        }
    }

    @Test("Every shortened or lengthened form is noticed")
    func lengths() throws {
        let bytes = try makeBytes()
        for count in 0..<bytes.count {
            #expect(throws: KeychainError.self) {
                try Keybag(decoding: bytes.prefix(count), deviceKey: .repeating(1))
            }
        }
        #expect(throws: KeychainError.self) { try Keybag(decoding: bytes + [0], deviceKey: .repeating(1)) }
    }

    @Test("A keybag opens only with its own device key")
    func otherDevice() throws {
        let bytes = try makeBytes()
        let error = #expect(throws: KeychainError.self) { try Keybag(decoding: bytes, deviceKey: .repeating(2)) }
        #expect(error?.code == .decode)
    }

    @Test("A newer format is refused as newer, not as damaged")
    func newerFormat() throws {
        var bytes = try makeBytes()
        bytes[9] = 2
        let error = #expect(throws: KeychainError.self) { try Keybag(decoding: bytes, deviceKey: .repeating(1)) }
        #expect(error?.code == .notAvailable)
    }

    @Test("Entries of one keybag cannot change places")
    func swappedEntries() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        var keybag = try Keybag.make(storeID: storeID, deviceKey: deviceKey, randomness: SystemRandomness())
        (keybag.entries[0].wrappedKey, keybag.entries[1].wrappedKey) =
            (keybag.entries[1].wrappedKey, keybag.entries[0].wrappedKey)
        #expect(throws: KeychainError.self) { try keybag.unwrap(deviceKey: deviceKey) }
    }
}
