import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

@Suite struct RowSealerTests {
    private let plaintext = Data("a secret".utf8)

    private func seal(_ binding: RowBinding = .fixture(), as half: RowSealer.Half = .secret) throws -> SealedHalf {
        try seal(plaintext, binding, as: half)
    }

    private func seal(_ bytes: Data, _ binding: RowBinding = .fixture(), as half: RowSealer.Half) throws -> SealedHalf {
        try KeyMaterial.repeating(7).withUnsafeBytes { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                try SecretBytes(copying: bytes).withUnsafeBytes { bytes throws(KeychainError) in
                    try sealer.seal(bytes, as: half, randomness: SystemRandomness())
                }
            }
        }
    }

    private func open(
        _ sealed: SealedHalf, _ binding: RowBinding = .fixture(), as half: RowSealer.Half = .secret, key: UInt8 = 7
    ) throws -> Data {
        try KeyMaterial.repeating(key).withUnsafeBytes { classKey throws(KeychainError) in
            try RowSealer.with(classKey: classKey, binding) { sealer throws(KeychainError) in
                try SecretBytes(copying: sealed.wrappedKey).withUnsafeBytes { wrappedKey throws(KeychainError) in
                    try SecretBytes(copying: sealed.box).withUnsafeBytes { box throws(KeychainError) in
                        try sealer.open(half, wrappedKey: wrappedKey, box: box) { bytes throws(KeychainError) in
                            Data(bytes)
                        }
                    }
                }
            }
        }
    }

    @Test("Any length comes back as it was", arguments: [0, 1, 27, 28, 29, 31, 32, 33, 60, 1000, 1 << 20])
    func roundTrip(count: Int) throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(try open(try seal(bytes, as: .secret)) == bytes)
    }

    @Test("A sealed secret tells its length only to the next 32 bytes")
    func padding() throws {
        let sizes = try [0, 1, 28, 29, 60].map { try seal(Data(count: $0), as: .secret).box.count }
        #expect(sizes == [60, 60, 60, 92, 92])
    }

    @Test("Padding with anything but zeros is refused")
    func foreignPadding() throws {
        let padded = plaintext.withUnsafeBytes { PaddedBytes.withPadded($0, multiple: 32) { Data($0) } }
        #expect(try padded.withUnsafeBytes { Data(try PaddedBytes.content(of: $0)) } == plaintext)
        for place in padded.indices.suffix(padded.count - 4 - plaintext.count) {
            let error = #expect(throws: KeychainError.self) {
                try padded.flipping(place).withUnsafeBytes { _ = try PaddedBytes.content(of: $0) }
            }
            #expect(error?.code == .decode)
        }
    }

    @Test("The same plaintext is never sealed to the same bytes")
    func freshKeys() throws {
        let (a, b) = (try seal(), try seal())
        #expect(a.wrappedKey != b.wrappedKey)
        #expect(a.box != b.box)
    }

    @Test("Every flipped byte is noticed")
    func flips() throws {
        let sealed = try seal()
        for place in sealed.box.indices {
            let flipped = SealedHalf(wrappedKey: sealed.wrappedKey, box: sealed.box.flipping(place))
            #expect(throws: KeychainError.self) { try open(flipped) }
        }
        for place in sealed.wrappedKey.indices {
            let flipped = SealedHalf(wrappedKey: sealed.wrappedKey.flipping(place), box: sealed.box)
            #expect(throws: KeychainError.self) { try open(flipped) }
        }
    }

    @Test("Every shortened form is noticed")
    func truncation() throws {
        let sealed = try seal()
        for count in 0..<sealed.box.count {
            #expect(throws: KeychainError.self) {
                try open(SealedHalf(wrappedKey: sealed.wrappedKey, box: sealed.box.prefix(count)))
            }
        }
        for count in 0..<sealed.wrappedKey.count {
            #expect(throws: KeychainError.self) {
                try open(SealedHalf(wrappedKey: sealed.wrappedKey.prefix(count), box: sealed.box))
            }
        }
    }

    @Test("A half opens only in its own place", arguments: Displacement.allCases)
    func binding(_ displacement: Displacement) throws {
        let sealed = try seal()
        var binding = RowBinding.fixture()
        switch displacement {
        case .store: binding.storeID = UUID()
        case .row: binding.rowID = UUID()
        case .itemClass: binding.itemClass = .internetPassword
        case .protection: binding.accessControl = AccessControl(.always)
        case .constraint: binding.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        case .version: binding.version = 2
        }
        #expect(throws: KeychainError.self) { try open(sealed, binding) }
        #expect(try open(sealed) == plaintext)
    }

    enum Displacement: CaseIterable { case store, row, itemClass, protection, constraint, version }

    @Test("A constraint cannot be taken off an item")
    func constraintStays() throws {
        var binding = RowBinding.fixture()
        binding.accessControl = try AccessControl(.whenUnlocked, flags: .biometryCurrentSet)
        let sealed = try seal(binding)
        #expect(throws: KeychainError.self) { try open(sealed) }
        #expect(try open(sealed, binding) == plaintext)
    }

    @Test("One half does not pass for the other, nor another class key's for this one's")
    func halvesAndKeys() throws {
        let sealed = try seal(as: .metadata)
        #expect(throws: KeychainError.self) { try open(sealed, as: .secret) }
        #expect(throws: KeychainError.self) { try open(sealed, as: .metadata, key: 8) }
        #expect(try open(sealed, as: .metadata) == plaintext)
    }
}
