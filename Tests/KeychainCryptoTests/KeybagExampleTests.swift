import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

/// The worked example of docs/keybag-format.md, which was computed by another implementation.
@Suite struct KeybagExampleTests {
    private let example: KeybagExample
    private let storeID: UUID
    private let deviceKey: KeyMaterial
    private let passcodeKey: PasscodeKey

    init() throws {
        example = try Vectors.load("keybag-example")
        storeID = UUID(example.storeID.data)
        deviceKey = try .holding(example.deviceKey.data)
        passcodeKey = try PasscodeKey(
            SecretBytes(copying: example.passcodeUTF8.data), example.parameters, storeID: storeID,
            deviceKey: deviceKey)
    }

    private func derived(_ label: String, _ context: KeyContext) -> Data {
        deviceKey.withDerived(label, context) { Data($0) }
    }

    // MARK: The passcode

    @Test("Each step from the passcode to its key is that of the document")
    func passcode() throws {
        #expect(stretched(example.passcodeUTF8.data) == example.scryptOutput.data)
        let salt = derived("passcode tangle 1", KeyContext(storeID))
        #expect(salt == example.tangleSalt.data)
        let extracted = mac(salt, example.scryptOutput.data)
        #expect(extracted == example.pseudorandomKey.data)
        let key = try KeyMaterial.holding(extracted).derived("passcode key 1", KeyContext(storeID))
        #expect(key.data == example.passcodeKey.data)
        #expect(passcodeKey.key.data == example.passcodeKey.data)
    }

    private func stretched(_ passcode: Data) -> Data {
        var key = Data(count: 32)
        let isDerived = key.withUnsafeMutableBytes { target in
            passcode.withUnsafeBytes { passcode in
                example.salt.data.withUnsafeBytes { salt in
                    Scrypt.derive(
                        passcode, salt: salt, cost: example.log2N, blockSize: example.r, parallelism: example.p,
                        into: target)
                }
            }
        }
        #expect(isDerived)
        return key
    }

    private func mac(_ key: Data, _ message: Data) -> Data {
        key.withUnsafeBytes { key in
            var hash = KeyedHash(key: key)
            message.withUnsafeBytes { hash.update($0) }
            return hash.finalize { Data($0) }
        }
    }

    // MARK: The keybags

    @Test("Every keybag of the document is read as what it says")
    func header() throws {
        for expected in example.bags {
            let bag = try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey)
            #expect(bag.storeID == storeID)
            #expect(bag.generation == expected.bagGeneration)
            #expect(bag.passcode == (expected.hasPasscode ? example.parameters : nil))
            #expect(bag.policy == PasscodePolicy(idleLimit: expected.idleLimit == 0 ? nil : expected.idleLimit))
        }
    }

    @Test("Every entry of the document is read as what it says, and wrapped under the key it says")
    func entries() throws {
        for expected in example.bags {
            let bag = try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey)
            #expect(bag.retired.count + bag.entries.count == expected.entries.count)
            for (entry, expected) in zip(bag.retired + bag.entries, expected.entries) {
                #expect(entry.key.number == expected.number)
                #expect(entry.wrap.rawValue == expected.wrap)
                #expect(entry.generation == expected.generation)
                #expect(entry.wrappedKey == expected.wrappedKey.data)
                #expect(entry.publicKey == expected.publicKey.data)
                let parent = try parent(of: entry, in: bag)
                let label = entry.wrap == .successor ? "retired key 1" : "class key 1"
                let context = KeyContext(storeID).adding(expected.number).adding(expected.generation)
                #expect(parent.withDerived(label, context) { Data($0) } == expected.wrappingKey.data)
            }
        }
    }

    private func parent(of entry: Keybag.Entry, in bag: Keybag) throws -> KeyMaterial {
        switch entry.wrap {
        case .deviceKey: deviceKey
        case .passcode: passcodeKey.key
        case .successor:
            try .holding(
                try #require(try unwrap(bag)[entry.key.tier].data(entry.key, generation: entry.generation + 1)))
        }
    }

    @Test("Every keybag of the document, written again, is the same bytes with the same tag")
    func bytes() throws {
        #expect(derived("keybag 1", KeyContext(storeID).adding(UInt8(0))) == example.keybagTagKey.data)
        for expected in example.bags {
            let bytes = try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey).encoded(deviceKey: deviceKey)
            #expect(bytes == expected.bytes.data)
            #expect(bytes.count == expected.size)
            #expect(bytes.suffix(32) == expected.tag.data)
        }
    }

    @Test("Every key of the document unwraps to the value it says")
    func keys() throws {
        for expected in example.bags {
            let keys = try unwrap(try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey))
            let bag = try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey)
            #expect(KeyTier.ofKeybag.map { keys[$0].names.count }.reduce(0, +) == bag.entries.count)
            for entry in expected.entries {
                let name = try #require(KeyName(number: entry.number))
                guard entry.wrap != Keybag.Wrap.successor.rawValue else {
                    let fileClass = try #require(FileClass(rawValue: entry.number))
                    let key = try bag.withRetiredKey(
                        fileClass, generation: entry.generation, from: keys[name.tier]
                    ) { Data($0) }
                    #expect(key == entry.key.data)
                    continue
                }
                #expect(keys[name.tier].data(name, generation: entry.generation) == entry.key.data)
            }
        }
    }

    @Test("Wrapping the keys of the document makes its entries")
    func wrapping() throws {
        for expected in example.bags {
            var bag = try Keybag(decoding: expected.bytes.data, deviceKey: deviceKey)
            let keys = try unwrap(bag)
            bag.entries = []
            try bag.wrap(keys, deviceKey: deviceKey, passcodeKey: bag.passcode == nil ? nil : passcodeKey.key)
            #expect(bag.encoded(deviceKey: deviceKey) == expected.bytes.data)
        }
    }

    @Test("At the end of the renewal the keybag in its midst becomes the one that the document has next")
    func retiring() throws {
        var bag = try Keybag(decoding: example.keybagDuringRenewal.bytes.data, deviceKey: deviceKey)
        try bag.dropFormerKeys(try unwrap(bag))
        bag.generation += 1
        #expect(bag.encoded(deviceKey: deviceKey) == example.keybagWithPasscode.bytes.data)
    }

    private func unwrap(_ bag: Keybag) throws -> StoreKeys {
        if bag.passcode == nil { return try bag.unwrap(deviceKey: deviceKey) }
        return try bag.unwrap(deviceKey: deviceKey, passcodeKey: passcodeKey.key)
    }

    // MARK: The count of wrong passcodes

    @Test("The record of wrong passcodes is that of the document, read and written")
    func attempts() throws {
        let expected = example.attempts
        let wrong = Data(expected.wrongPasscode.utf8)
        #expect(stretched(wrong) == expected.scryptOutput.data)
        #expect(derived("attempt 1", KeyContext(storeID)) == expected.fingerprintKey.data)
        #expect(derived("attempts 1", KeyContext(storeID)) == expected.tagKey.data)
        let key = try PasscodeKey(
            SecretBytes(copying: wrong), example.parameters, storeID: storeID, deviceKey: deviceKey)
        #expect(key.fingerprint == expected.fingerprint.data)

        let record = AttemptRecord(
            count: expected.count, time: expected.time, bootID: UUID(expected.bootID.data),
            fingerprint: key.fingerprint)
        let bytes = record.encoded(storeID: storeID, deviceKey: deviceKey)
        #expect(bytes == expected.bytes.data)
        #expect(bytes.count == expected.size)
        #expect(bytes.suffix(32) == expected.tag.data)
        #expect(AttemptRecord(decoding: expected.bytes.data, storeID: storeID, deviceKey: deviceKey) == record)
    }

    // MARK: The kernel's keyring

    @Test("What the document puts in the kernel's keyring opens to its keys, and is what is put there")
    func keyring() throws {
        for blob in example.keyringBlobs {
            let bag = try Keybag(decoding: example.keybagWithPasscode.bytes.data, deviceKey: deviceKey)
            #expect(bag.tag(deviceKey: deviceKey) == blob.bagTag.data)
            let binding = KeyringBinding(
                storeID: storeID, device: blob.device, inode: blob.inode, bag: bag, lockedAt: blob.lockedAt,
                boot: UUID(blob.bootID.data))
            let key = try binding.key(deviceKey: deviceKey)
            let context = binding.context(try #require(KeyTier(rawValue: blob.tier)))
            #expect(key.data == blob.key.data)
            #expect(context.withUnsafeBytes { Data($0) } == blob.associatedData.data)

            let opened = try blob.payload.data.withUnsafeBytes { bytes in
                try KeySet(opening: bytes, under: key, context: context)
            }
            let set = try #require(opened)
            #expect(records(of: set) == blob.plaintext.data)
            let nonce = RepeatedByte(byte: try #require(blob.nonce.data.first))
            #expect(try set.sealed(under: key, context: context, randomness: nonce) == blob.payload.data)
            #expect(blob.payload.data.count == blob.size)
        }
    }

    private func records(of set: KeySet) -> Data {
        var records = Data()
        for (name, generation) in set.names {
            records.append(name.number)
            records.append(bigEndian: generation)
            records.append(set.data(name, generation: generation) ?? Data())
        }
        return records
    }
}

// MARK: - The file

private struct KeybagExample: Decodable {
    let deviceKey, storeID, passcodeUTF8, salt: HexBytes
    let log2N: UInt8
    let r, p: UInt32
    let scryptOutput, tangleSalt, pseudorandomKey, passcodeKey, keybagTagKey: HexBytes
    let keybagWithoutPasscode, keybagDuringRenewal, keybagWithPasscode: Bag
    let attempts: Attempts
    let keyringBlobs: [Blob]

    var bags: [Bag] { [keybagWithoutPasscode, keybagDuringRenewal, keybagWithPasscode] }

    var parameters: PasscodeParameters {
        PasscodeParameters(cost: log2N, blockSize: r, parallelism: p, salt: salt.data)
    }

    struct Bag: Decodable {
        let bagGeneration: UInt64
        let flags: UInt8
        let idleLimit, size: Int
        let entries: [Entry]
        let tag, bytes: HexBytes

        var hasPasscode: Bool { flags == 1 }
    }

    struct Entry: Decodable {
        let number, wrap: UInt8
        let generation: UInt32
        let key, wrappingKey, wrappedKey, publicKey: HexBytes
    }

    struct Attempts: Decodable {
        let wrongPasscode: String
        let scryptOutput, bootID, fingerprintKey, fingerprint, tagKey, tag, bytes: HexBytes
        let count: UInt16
        let time: UInt64
        let size: Int
    }

    struct Blob: Decodable {
        let tier: String
        let bagGeneration, device, inode, lockedAt: UInt64
        let bagTag, bootID, key, nonce, associatedData, plaintext, payload: HexBytes
        let size: Int
    }
}
