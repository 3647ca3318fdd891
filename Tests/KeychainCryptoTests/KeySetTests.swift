import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

@Suite struct KeySetTests {
    private let names: [KeyName] = [.file(.complete), .itemClass(.whenUnlocked), .index(.always)]
    private let context = KeyContext(UUID(uuidString: "00000000-0000-4000-8000-000000000001")!).adding(UInt8(0x41))

    private func seal() throws -> Data {
        try KeySet.repeating(names, generation: 7)
            .sealed(under: .repeating(1), context: context, randomness: SystemRandomness())
    }

    private func open(_ box: Data, key: UInt8 = 1, context other: KeyContext? = nil) throws -> KeySet? {
        let key = try KeyMaterial.repeating(key)
        return try box.withUnsafeBytes { try KeySet(opening: $0, under: key, context: other ?? context) }
    }

    @Test("A sealed set opens, with its keys in their order")
    func roundTrip() throws {
        let set = try #require(try open(try seal()))
        #expect(set.names.map(\.name) == names)
        #expect(set.names.map(\.generation) == [7, 7, 7])
        for name in names {
            #expect(set.data(name, generation: 7) == Data(repeating: name.number, count: 32))
            #expect(set.contains(name, generation: 7))
            #expect(!set.contains(name, generation: 8))
            #expect(set.data(name, generation: 8) == nil)
        }
        #expect(!set.contains(.file(.always), generation: 7))
    }

    @Test("A set without keys is sealed and opened like any other")
    func empty() throws {
        let box = try KeySet().sealed(under: .repeating(1), context: context, randomness: SystemRandomness())
        #expect(box.count == 28)
        #expect(try open(box)?.names.isEmpty == true)
    }

    @Test("The same set is never sealed to the same bytes")
    func freshNonces() throws {
        #expect(try seal() != seal())
    }

    @Test("Every flipped byte is noticed")
    func flips() throws {
        let box = try seal()
        for place in box.indices { #expect(try open(box.flipping(place)) == nil) }
    }

    @Test("Every shortened or lengthened form is noticed")
    func lengths() throws {
        let box = try seal()
        for count in 0..<box.count { #expect(try open(box.prefix(count)) == nil) }
        for count in [1, 37, 37 * 14, 4096] { #expect(try open(box + Data(count: count)) == nil) }
    }

    @Test("A sealed set opens under no other key, and for nothing else")
    func otherKeyOrContext() throws {
        let box = try seal()
        #expect(try open(box, key: 2) == nil)
        #expect(try open(box, context: KeyContext(UUID()).adding(UInt8(0x41))) == nil)
        #expect(try open(box, context: context.adding(UInt8(0))) == nil)
    }

    @Test("A set refuses more keys than it has room for, and keeps those it has")
    func tooMany() throws {
        let set = try KeySet()
        for generation in 1...27 as ClosedRange<UInt32> {
            try set.add(.file(.always), generation: generation) { $0.copyBytes(from: Data(repeating: 3, count: 32)) }
        }
        let error = #expect(throws: KeychainError.self) { try set.add(.file(.always), generation: 28) { _ in } }
        #expect(error?.code == .internalFailure)
        #expect(set.names.map(\.generation) == Array(1...27))
        #expect(set.data(.file(.always), generation: 27) == Data(repeating: 3, count: 32))
    }

    @Test("A key that could not be made is not added, and the next one takes its place")
    func failure() throws {
        let set = try KeySet.repeating([.file(.complete)])
        #expect(throws: KeychainError.self) {
            try set.add(.file(.always), generation: 1) { target throws(KeychainError) in
                target[0] = 0x41
                throw KeychainError(.internalFailure, message: "no random bytes")
            }
        }
        #expect(set.names.map(\.name) == [.file(.complete)])
        #expect(set.data(.file(.always)) == nil)
        try set.add(.index(.always), generation: 1) { $0.copyBytes(from: Data(repeating: 5, count: 32)) }
        #expect(set.names.map(\.name) == [.file(.complete), .index(.always)])
        #expect(set.data(.index(.always)) == Data(repeating: 5, count: 32))
    }

    @Test("Of a store's keys only those that are wanted are taken over")
    func filtered() throws {
        let keys = try StoreKeys()
        for generation in [1, 2] as [UInt32] {
            try keys.addGeneration(generation, hasPasscode: true, randomness: SystemRandomness())
        }
        let newest = try keys.filtered { _, generation in generation == 2 }
        for tier in KeyTier.ofKeybag {
            let expected = keys[tier].names.filter { $0.generation == 2 }
            #expect(newest[tier].names.map(\.name) == expected.map(\.name))
            for (name, generation) in expected {
                let key = keys[tier].data(name, generation: generation)
                #expect(newest[tier].data(name, generation: generation) == key)
            }
        }
    }
}
