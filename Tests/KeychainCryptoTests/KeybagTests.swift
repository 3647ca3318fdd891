import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

@Suite struct KeybagTests {
    @Test("A keybag comes back as it was, with a key for each class but the one that needs a passcode")
    func roundTrip() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        let keybag = try makeBag()
        let decoded = try Keybag(decoding: keybag.encoded(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(decoded == keybag)
        let keys = try decoded.unwrap(deviceKey: deviceKey)
        #expect(keys.names == Set(KeyName.all).subtracting([.itemClass(.whenPasscodeSetThisDeviceOnly)]))
        #expect(Set(keys.bytes).count == keys.names.count)
    }

    @Test("With a passcode it comes back too, and has every key")
    func roundTripWithPasscode() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        let (keybag, passcodeKey) = try makeProtectedBag()
        let decoded = try Keybag(decoding: keybag.encoded(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(decoded == keybag)
        let keys = try decoded.unwrap(deviceKey: deviceKey, passcodeKey: passcodeKey)
        #expect(keys.names == Set(KeyName.all))
        #expect(Set(keys.bytes).count == keys.names.count)
    }

    @Test("The device key alone opens what is always accessible, and nothing else of a protected keybag")
    func deviceKeyAlone() throws {
        let keybag = try makeProtectedBag().bag
        let keys = try keybag.unwrap(deviceKey: .repeating(1))
        #expect(keys.names == Set(KeyName.all.filter { $0.tier == .always }))
    }

    @Test("A wrong passcode opens nothing, and is told from damage")
    func wrongPasscode() throws {
        let keybag = try makeProtectedBag().bag
        let wrong = try passcodeKey("correct house")
        let error = #expect(throws: KeychainError.self) {
            try keybag.unwrap(deviceKey: .repeating(1), passcodeKey: wrong)
        }
        #expect(error?.code == .authenticationFailed)
    }

    @Test("Every flipped byte is noticed", arguments: [false, true])
    func flips(isProtected: Bool) throws {
        let bytes = try makeBytes(isProtected)
        for place in bytes.indices {
            #expect(throws: KeychainError.self) {
                try Keybag(decoding: bytes.flipping(place), deviceKey: .repeating(1))
            }
        }
    }

    @Test("Every shortened or lengthened form is noticed", arguments: [false, true])
    func lengths(isProtected: Bool) throws {
        let bytes = try makeBytes(isProtected)
        for count in 0..<bytes.count {
            #expect(throws: KeychainError.self) {
                try Keybag(decoding: bytes.prefix(count), deviceKey: .repeating(1))
            }
        }
        #expect(throws: KeychainError.self) { try Keybag(decoding: bytes + [0], deviceKey: .repeating(1)) }
    }

    @Test("A keybag opens only with its own device key")
    func otherDevice() throws {
        let bytes = try makeBytes(false)
        let error = #expect(throws: KeychainError.self) { try Keybag(decoding: bytes, deviceKey: .repeating(2)) }
        #expect(error?.code == .decode)
    }

    @Test("A format of another number is refused as such, not as damage", arguments: [0, 3] as [UInt8])
    func otherFormat(number: UInt8) throws {
        var bytes = try makeBytes(false)
        bytes[9] = number
        // With a right tag too, as a program of another version would have made it.
        for bytes in [bytes, try retagged(bytes)] {
            let error = #expect(throws: KeychainError.self) { try Keybag(decoding: bytes, deviceKey: .repeating(1)) }
            #expect(error?.code == .notAvailable)
        }
    }

    @Test("Only a keybag with another time after a lock than the usual one has format 2, and it comes back too")
    func timeAfterLock() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        var keybag = try makeProtectedBag().bag
        let usual = keybag.encoded(deviceKey: deviceKey)
        #expect(usual[9] == 1)
        for time in [0, 1, 86_400] {
            keybag.policy.timeAfterLock = time
            let bytes = keybag.encoded(deviceKey: deviceKey)
            #expect(bytes[9] == 2 && bytes.count == usual.count + 4)
            #expect(try Keybag(decoding: bytes, deviceKey: deviceKey) == keybag)
            for place in bytes.indices {
                let flipped = bytes.flipping(place)
                #expect(throws: KeychainError.self) { try Keybag(decoding: flipped, deviceKey: deviceKey) }
            }
        }
        keybag.policy.timeAfterLock = 86_401
        #expect(try refusal(of: keybag) == .decode)
        var open = try makeBag()
        open.policy.timeAfterLock = 600
        #expect(try refusal(of: open) == .decode, "without a passcode there is no lock")
        var short = usual
        short[9] = 2
        let error = #expect(throws: KeychainError.self) {
            try Keybag(decoding: try retagged(short), deviceKey: deviceKey)
        }
        #expect(error?.code == .decode)
    }

    @Test("Entries of one keybag cannot change places")
    func swappedEntries() throws {
        var keybag = try makeBag()
        (keybag.entries[0].wrappedKey, keybag.entries[1].wrappedKey) =
            (keybag.entries[1].wrappedKey, keybag.entries[0].wrappedKey)
        #expect(throws: KeychainError.self) { try keybag.unwrap(deviceKey: .repeating(1)) }
    }
}

// MARK: - Keybags with a right tag that no version of ours makes

extension KeybagTests {
    @Test("A key behind the passcode that the device key opens is refused")
    func wayRoundThePasscode() throws {
        let made = try makeProtectedBag()
        var keybag = made.bag
        let keys = try keybag.unwrap(deviceKey: .repeating(1), passcodeKey: made.passcodeKey)
        var open = keybag
        open.passcode = nil
        try open.wrap(keys, deviceKey: .repeating(1), passcodeKey: nil)
        for place in keybag.entries.indices where keybag.entries[place].wrap == .passcode {
            let original = keybag.entries[place]
            keybag.entries[place] = open.entries[place]
            #expect(try refusal(of: keybag) == .decode)
            keybag.entries[place] = original
        }
        #expect(try refusal(of: keybag) == nil)
    }

    @Test("A key that would need a passcode where none is set is refused")
    func passcodeThatIsNotSet() throws {
        var keybag = try makeProtectedBag().bag
        keybag.passcode = nil
        #expect(try refusal(of: keybag) == .decode)
    }

    @Test("A missing key is refused", arguments: [false, true])
    func missingEntry(isProtected: Bool) throws {
        let keybag = try isProtected ? makeProtectedBag().bag : makeBag()
        for place in keybag.entries.indices {
            var lacking = keybag
            lacking.entries.remove(at: place)
            #expect(try refusal(of: lacking) == .decode)
        }
        var empty = keybag
        empty.entries = []
        #expect(try refusal(of: empty) == .decode)
    }

    @Test("A key that is there twice is refused")
    func duplicateEntry() throws {
        let keybag = try makeBag()
        for place in keybag.entries.indices {
            var doubled = keybag
            doubled.entries.insert(keybag.entries[place], at: place)
            #expect(try refusal(of: doubled) == .decode)
        }
    }

    @Test("Keys in another order are refused")
    func wrongOrder() throws {
        var keybag = try makeBag()
        keybag.entries.swapAt(3, 4)
        #expect(try refusal(of: keybag) == .decode)
    }

    @Test("Keys without a generation are refused")
    func noGeneration() throws {
        var keybag = try makeBag()
        for place in keybag.entries.indices { keybag.entries[place].generation = 0 }
        #expect(try refusal(of: keybag) == .decode)
    }

    @Test(
        "Parameters that ask for more than any real ones are refused",
        arguments: [
            (40, 8, 1), (21, 8, 1), (0, 8, 1), (17, 0, 1), (17, 9, 1), (17, 8, 0), (17, 8, 5), (17, .max, .max),
        ] as [(UInt8, UInt32, UInt32)])
    func forgedParameters(cost: UInt8, blockSize: UInt32, parallelism: UInt32) throws {
        var keybag = try makeProtectedBag().bag
        keybag.passcode?.cost = cost
        keybag.passcode?.blockSize = blockSize
        keybag.passcode?.parallelism = parallelism
        #expect(try refusal(of: keybag) == .decode)
    }

    @Test("Another public key in the place of class B's is refused, before a file is made with it")
    func foreignPublicKey() throws {
        var keybag = try makeBag()
        let place = try #require(keybag.entries.firstIndex { $0.key == .file(.completeUnlessOpen) })
        keybag.entries[place].publicKey = Data(repeating: 9, count: 32)
        let error = #expect(throws: KeychainError.self) { try keybag.unwrap(deviceKey: .repeating(1)) }
        #expect(error?.code == .decode)

        let made = try makeProtectedBag()
        var protected = made.bag
        protected.entries[place].publicKey = Data(repeating: 9, count: 32)
        #expect(throws: KeychainError.self) {
            try protected.unwrap(deviceKey: .repeating(1), passcodeKey: made.passcodeKey)
        }
    }

    @Test("A public key where there is none, and none where there is one, are refused")
    func publicKeyLengths() throws {
        let keybag = try makeBag()
        for place in keybag.entries.indices {
            var changed = keybag
            changed.entries[place].publicKey = Data(count: keybag.entries[place].publicKey.isEmpty ? 32 : 0)
            #expect(try refusal(of: changed) == .decode)
        }
    }

    @Test("Marks, numbers and bytes that are not defined are refused, also with a right tag")
    func undefinedBytes() throws {
        let bytes = try makeBytes(false)
        // A flag, a parameter and the salt without a passcode, a key's number, and under what it is wrapped.
        for (place, value) in [(34, 4), (39, 17), (48, 1), (82, 5), (83, 4)] as [(Int, UInt8)] {
            var changed = bytes
            changed[place] = value
            let retagged = try retagged(changed)
            let error = #expect(throws: KeychainError.self) { try Keybag(decoding: retagged, deviceKey: .repeating(1)) }
            #expect(error?.code == .decode)
        }
        let longer = try retagged(bytes.dropLast(32) + Data(count: 1 + 32))
        #expect(throws: KeychainError.self) { try Keybag(decoding: longer, deviceKey: .repeating(1)) }
    }
}

// MARK: - While keys are renewed

extension KeybagTests {
    @Test("During a renewal a keybag has two generations, both behind the passcode")
    func twoGenerations() throws {
        let deviceKey = try KeyMaterial.repeating(1)
        let keybag = try makeRenewingBag()
        let decoded = try Keybag(decoding: keybag.encoded(deviceKey: deviceKey), deviceKey: deviceKey)
        #expect(decoded.keyGenerations == [2, 1])
        #expect(decoded.keyGeneration == 2)
        #expect(decoded.isRekeying)
        #expect(try decoded.unwrap(deviceKey: deviceKey).names == Set(KeyName.all.filter { $0.tier == .always }))
    }

    @Test("An older generation may lack keys, and the newest may not")
    func incompleteGenerations() throws {
        let keybag = try makeRenewingBag()
        for place in keybag.entries.indices {
            var lacking = keybag
            let generation = lacking.entries.remove(at: place).generation
            let expected: KeychainError.Code? = generation == 1 ? nil : .decode
            #expect(try refusal(of: lacking) == expected)
        }
    }

    private func makeRenewingBag() throws -> Keybag {
        let keys = try makeBag().unwrap(deviceKey: .repeating(1))
        try keys.addGeneration(2, hasPasscode: true, randomness: SystemRandomness())
        let made = try makeProtectedBag()
        var keybag = made.bag
        try keybag.wrap(keys, deviceKey: .repeating(1), passcodeKey: made.passcodeKey)
        return keybag
    }
}

// MARK: - Parts

extension KeybagTests {
    private var storeID: UUID { UUID(uuidString: "00000000-0000-4000-8000-000000000001")! }

    private var parameters: PasscodeParameters {
        PasscodeParameters(cost: 1, blockSize: 1, parallelism: 1, salt: Data(repeating: 0x5a, count: 32))
    }

    private func passcodeKey(_ passcode: String) throws -> KeyMaterial {
        try PasscodeKey(
            SecretBytes(copying: Data(passcode.utf8)), parameters, storeID: storeID, deviceKey: .repeating(1)
        ).key
    }

    private func makeBag() throws -> Keybag {
        try Keybag.make(storeID: storeID, deviceKey: .repeating(1), randomness: SystemRandomness())
    }

    private func makeProtectedBag() throws -> (bag: Keybag, passcodeKey: KeyMaterial) {
        let keys = try StoreKeys()
        try keys.addGeneration(1, hasPasscode: true, randomness: SystemRandomness())
        var bag = Keybag(
            storeID: storeID, generation: 1, passcode: parameters,
            policy: PasscodePolicy(idleLimit: 300, erasesAfterTenFailures: true), entries: [])
        let passcodeKey = try passcodeKey("correct horse")
        try bag.wrap(keys, deviceKey: .repeating(1), passcodeKey: passcodeKey)
        return (bag, passcodeKey)
    }

    private func makeBytes(_ isProtected: Bool) throws -> Data {
        let keybag = try isProtected ? makeProtectedBag().bag : makeBag()
        return try keybag.encoded(deviceKey: .repeating(1))
    }

    /// Why a keybag is not read whose tag is right; nil if it is.
    private func refusal(of keybag: Keybag) throws -> KeychainError.Code? {
        let deviceKey = try KeyMaterial.repeating(1)
        let bytes = keybag.encoded(deviceKey: deviceKey)
        do throws(KeychainError) {
            _ = try Keybag(decoding: bytes, deviceKey: deviceKey)
            return nil
        } catch {
            return error.code
        }
    }

    private func retagged(_ bytes: Data) throws -> Data {
        let content = Data(bytes.dropLast(32))
        return try content + Keybag.tag(of: content, storeID: storeID, deviceKey: .repeating(1))
    }
}

extension StoreKeys {
    fileprivate var names: Set<KeyName> { Set(KeyTier.ofKeybag.flatMap { self[$0].names.map(\.name) }) }

    fileprivate var bytes: [Data] {
        KeyTier.ofKeybag.flatMap { tier in
            self[tier].names.compactMap { name, generation in self[tier].data(name, generation: generation) }
        }
    }
}
