import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

/// File class keys of former generations.
@Suite struct RetiredKeyTests {
    private let deviceKey: KeyMaterial
    private let storeID = UUID(uuidString: "00000000-0000-4000-8000-000000000001")!
    /// After two renewals.
    private let bag: Keybag
    /// Each file class key by its class and generation.
    private let original: [String: Data]

    init() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        var bag = try Keybag.make(storeID: storeID, deviceKey: deviceKey, randomness: SystemRandomness())
        var original: [String: Data] = [:]
        for generation in 2...3 as ClosedRange<UInt32> {
            let keys = try bag.unwrap(deviceKey: deviceKey)
            try keys.addGeneration(generation, hasPasscode: false, randomness: SystemRandomness())
            try bag.wrap(keys, deviceKey: deviceKey, passcodeKey: nil)
            for fileClass in FileClass.ofKeybag {
                for generation in [generation - 1, generation] {
                    original["\(fileClass) \(generation)"] =
                        keys[fileClass.tier].data(.file(fileClass), generation: generation)
                }
            }
            try bag.dropFormerKeys(keys)
        }
        self.deviceKey = deviceKey
        self.bag = bag
        self.original = original
    }

    @Test("After renewals the keys of files are retired, in order, and all others are gone")
    func retired() throws {
        #expect(bag.retired.map(\.key.number) == [1, 2, 3, 4, 1, 2, 3, 4])
        #expect(bag.retired.map(\.generation) == [1, 1, 1, 1, 2, 2, 2, 2])
        #expect(bag.retired.allSatisfy { $0.wrap == .successor })
        #expect(bag.keyGenerations == [3] && bag.keyGeneration == 3 && !bag.isRekeying)
        let bytes = bag.encoded(deviceKey: deviceKey)
        #expect(bytes.count == 746 + 2 * 232)
        #expect(try Keybag(decoding: bytes, deviceKey: deviceKey) == bag)
    }

    @Test("Every retired key opens by way of its successors to what it was")
    func opens() throws {
        let keys = try bag.unwrap(deviceKey: deviceKey)
        for fileClass in FileClass.ofKeybag {
            for generation in 1...2 as ClosedRange<UInt32> {
                #expect(bag.hasFileKey(fileClass, generation: generation))
                #expect(try open(fileClass, generation, keys) == original["\(fileClass) \(generation)"])
            }
            #expect(try open(fileClass, 3, keys) == nil, "it is in use")
            #expect(try open(fileClass, 4, keys) == nil)
            #expect(!bag.hasFileKey(fileClass, generation: 0) && !bag.hasFileKey(fileClass, generation: 4))
            #expect(try open(fileClass, 1, StoreKeys()) == nil, "without the newest key")
        }
    }

    @Test("The public half of a retired key stays that of its private half")
    func publicHalves() throws {
        for generation in 1...3 as ClosedRange<UInt32> {
            var expected = Data(count: 32)
            try #require(original["\(FileClass.completeUnlessOpen) \(generation)"]).withUnsafeBytes { key in
                expected.withUnsafeMutableBytes { X25519.publicKey(of: key, into: $0) }
            }
            #expect(bag.publicKey(generation: generation) == expected)
        }
        #expect(bag.publicKey(generation: 4) == nil)
    }

    @Test("What is retired stays when the keys in use are wrapped anew")
    func survives() throws {
        var changed = bag
        try changed.wrap(try bag.unwrap(deviceKey: deviceKey), deviceKey: deviceKey, passcodeKey: nil)
        #expect(changed.retired == bag.retired)
    }

    @Test("A retired key in the place of another one, or with another successor, does not open")
    func exchanged() throws {
        let keys = try bag.unwrap(deviceKey: deviceKey)
        for (one, other) in [(0, 4), (0, 2), (2, 3)] {
            var changed = bag
            changed.retired[one].wrappedKey = bag.retired[other].wrappedKey
            changed.retired[other].wrappedKey = bag.retired[one].wrappedKey
            let fileClass = try #require(FileClass(rawValue: bag.retired[one].key.number))
            let error = #expect(throws: KeychainError.self) {
                try changed.withRetiredKey(fileClass, generation: 1, from: keys[fileClass.tier]) { Data($0) }
            }
            #expect(error?.code == .decode)
        }
    }

    // MARK: Keybags that are refused

    @Test("Every flipped byte of a keybag with retired keys is noticed")
    func flips() throws {
        let bytes = bag.encoded(deviceKey: deviceKey)
        for place in bytes.indices {
            #expect(throws: KeychainError.self) { try Keybag(decoding: bytes.flipping(place), deviceKey: deviceKey) }
        }
    }

    @Test("A gap in the chain is refused, and so is a chain in another order; one that begins later is not")
    func gaps() throws {
        for place in bag.retired.indices {
            var changed = bag
            changed.retired.remove(at: place)
            #expect(refusal(of: changed) == (place < 4 ? nil : .decode), "without entry \(place)")
            changed = bag
            changed.retired.insert(bag.retired[place], at: place)
            #expect(refusal(of: changed) == .decode, "entry \(place) twice")
            if place > 0 {
                changed = bag
                changed.retired.swapAt(place - 1, place)
                #expect(refusal(of: changed) == .decode, "entries \(place - 1) and \(place) exchanged")
            }
        }
    }

    @Test("Only keys of files are retired, and only of generations that are no longer in use")
    func foreign() throws {
        for number in [6, 8, 12, 32] as [UInt8] {
            var changed = bag
            var entry = bag.retired[0]
            entry.key = try #require(KeyName(number: number))
            entry.generation = 2
            changed.retired.append(entry)
            #expect(refusal(of: changed) == .decode)
        }
        for generation in [0, 3, 4, .max] as [UInt32] {
            var changed = bag
            changed.retired[7].generation = generation
            #expect(refusal(of: changed) == .decode)
        }
        // In the place of a key in use.
        var changed = bag
        changed.entries[0].wrap = .successor
        #expect(refusal(of: changed) == .decode)
    }

    @Test("Of the two generations in the midst of a renewal no key is retired")
    func inUse() throws {
        let keys = try bag.unwrap(deviceKey: deviceKey)
        try keys.addGeneration(4, hasPasscode: false, randomness: SystemRandomness())
        var changed = bag
        try changed.wrap(keys, deviceKey: deviceKey, passcodeKey: nil)
        #expect(refusal(of: changed) == nil)
        let place = try #require(changed.entries.firstIndex { $0.key.isOfFiles && $0.generation == 3 })
        var entry = changed.entries.remove(at: place)
        entry.wrap = .successor
        changed.retired.append(entry)
        #expect(refusal(of: changed) == .decode)
    }

    @Test("Retired keys of another kind or another length are refused")
    func lengths() throws {
        for place in bag.retired.indices {
            for change in [
                { $0.wrap = .deviceKey }, { $0.wrap = .passcode }, { $0.wrappedKey.removeLast() },
                { $0.wrappedKey.append(0) }, { $0.publicKey = Data(count: $0.publicKey.isEmpty ? 32 : 0) },
            ] as [(inout Keybag.Entry) -> Void] {
                var changed = bag
                change(&changed.retired[place])
                #expect(refusal(of: changed) == .decode)
            }
        }
    }

    @Test("After a thousand renewals there is no other, and the keybag can still be read")
    func manyRenewals() throws {
        var many = bag
        many.retired = []
        let most = UInt32(Keybag.mostRetiredGenerations)
        for generation in 1...most {
            for entry in bag.retired.prefix(4) {
                var entry = entry
                entry.generation = generation
                many.retired.append(entry)
            }
        }
        for place in many.entries.indices { many.entries[place].generation = most + 1 }
        #expect(!many.mayBeRekeyed && bag.mayBeRekeyed)
        let bytes = many.encoded(deviceKey: deviceKey)
        #expect(bytes.count < 240 << 10)
        #expect(try Keybag(decoding: bytes, deviceKey: deviceKey) == many)
    }
}

extension RetiredKeyTests {
    private func open(_ fileClass: FileClass, _ generation: UInt32, _ keys: StoreKeys) throws -> Data? {
        try bag.withRetiredKey(fileClass, generation: generation, from: keys[fileClass.tier]) { Data($0) }
    }

    private func refusal(of bag: Keybag) -> KeychainError.Code? {
        do throws(KeychainError) {
            _ = try Keybag(decoding: bag.encoded(deviceKey: deviceKey), deviceKey: deviceKey)
            return nil
        } catch {
            return error.code
        }
    }
}
