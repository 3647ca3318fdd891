import Foundation
import KeychainCrypto
import KeychainModel
import Testing

/// Secrets that a passcode or an application password is part of the key of.
@Suite struct ConstrainedSecretTests {
    private struct Example: Decodable {
        struct Secret: Decodable {
            var flags: UInt32
            var access, inner, secretKey: HexBytes
        }
        var consentPublicKey, passwordKey: HexBytes
        var examples: [Secret]
    }

    @Test("The wrapped keys are those of another implementation, which opens them too")
    func example() throws {
        let example: Example = try Vectors.load("constrained-example")
        let keys = try Self.keys()
        #expect(keys.consentPublicKey == example.consentPublicKey.data)
        #expect(keys.applicationPassword?.key.withUnsafeBytes { Data($0) } == example.passwordKey.data)
        for secret in example.examples {
            let control = try AccessControl(.whenUnlocked, flags: .init(rawValue: secret.flags))
            #expect(Data(control.canonicalBytes) == secret.access.data)
            let sealed = try Self.seal(control, keys)
            #expect(sealed.wrappedKey == secret.secretKey.data)
            #expect(sealed.wrappedKey.count == secret.inner.data.count + 8)
            #expect(try Self.open(sealed, control, keys) == "hunter2")
        }
    }

    @Test("What is missing is missed, and what is wrong does not open", arguments: flags)
    func factors(flags: AccessControl.Flags) throws {
        let control = try AccessControl(.whenUnlocked, flags: flags)
        let keys = try Self.keys()
        let sealed = try Self.seal(control, keys)
        var withoutPasscode = keys
        withoutPasscode.consent = nil
        #expect(
            Self.code(sealed, control, withoutPasscode) == (control.isSealedWithPasscode ? .authenticationFailed : nil))
        var withoutPassword = keys
        withoutPassword.applicationPassword = nil
        let needsPassword = control.isSealedWithApplicationPassword
        #expect(Self.code(sealed, control, withoutPassword) == (needsPassword ? .authenticationFailed : nil))
        var wrongPassword = keys
        wrongPassword.applicationPassword = try Self.password("another")
        #expect(Self.code(sealed, control, wrongPassword) == (needsPassword ? .authenticationFailed : nil))
        var wrongPair = keys
        wrongPair.consent = ConsentKey(publicKey: keys.consentPublicKey!, privateKey: try .repeating(0x0d))
        #expect((Self.code(sealed, control, wrongPair) == nil) != control.isSealedWithPasscode)
    }

    @Test("A password opens what another cost was usual for, and no other password does")
    func formerCost() throws {
        let control = try AccessControl(.whenUnlocked, flags: .applicationPassword)
        var keys = try Self.keys()
        let sealed = try Self.seal(control, keys)
        keys.applicationPassword = try Self.password("a password of the program's", cost: 5)
        #expect(try Self.open(sealed, control, keys) == "hunter2")
        keys.applicationPassword = try Self.password("another", cost: 5)
        #expect(Self.code(sealed, control, keys) == .authenticationFailed)
    }

    @Test("It opens for no other row, class key or access control, and with no byte changed", arguments: flags)
    func binding(flags: AccessControl.Flags) throws {
        let control = try AccessControl(.whenUnlocked, flags: flags)
        let keys = try Self.keys()
        let sealed = try Self.seal(control, keys)
        #expect(Self.code(sealed, control, keys, row: UUID()) == .decode)
        #expect(Self.code(sealed, control, keys, classKey: 0xc7) == .decode)
        for other in Self.flags where other != flags {
            #expect(Self.code(sealed, try AccessControl(.whenUnlocked, flags: other), keys) == .decode)
        }
        for place in sealed.wrappedKey.indices {
            var changed = sealed
            changed.wrappedKey[place] ^= 1
            #expect(Self.code(changed, control, keys) == .decode)
        }
        for count in 0..<sealed.wrappedKey.count {
            var changed = sealed
            changed.wrappedKey = Data(sealed.wrappedKey.prefix(count))
            #expect(Self.code(changed, control, keys) == .decode)
        }
    }

    @Test("Without the store's pair nothing is sealed with the passcode, without a password nothing with one")
    func sealing() throws {
        for flags in Self.flags {
            let control = try AccessControl(.whenUnlocked, flags: flags)
            let error = #expect(throws: KeychainError.self) { try Self.seal(control, ConstraintKeys()) }
            #expect(error?.code == .authenticationFailed)
        }
    }

    @Test("Class keys are renewed without passcode or password", arguments: flags)
    func renewal(flags: AccessControl.Flags) throws {
        let control = try AccessControl(.whenUnlocked, flags: flags)
        let keys = try Self.keys()
        var sealed = try Self.seal(control, keys)
        let binding = Self.binding(control)
        let newKey = try KeyMaterial.repeating(0xc7)
        sealed.wrappedKey = try KeyMaterial.repeating(0xc6).withUnsafeBytes { old throws(KeychainError) in
            try newKey.withUnsafeBytes { new throws(KeychainError) in
                try RowSealer.with(classKey: old, binding) { old throws(KeychainError) in
                    try RowSealer.with(classKey: new, binding) { new throws(KeychainError) in
                        try sealed.wrappedKey.withUnsafeBytesTyped { key throws(KeychainError) in
                            try old.rewrap(key, for: new)
                        }
                    }
                }
            }
        }
        #expect(Self.code(sealed, control, keys) == .decode)
        #expect(Self.code(sealed, control, keys, classKey: 0xc7) == nil)
    }

    // MARK: The pair

    @Test("The pair opens under its passcode key alone, and stays the same under another")
    func pair() throws {
        let store = UUID()
        let (first, second) = (try KeyMaterial.repeating(1), try KeyMaterial.repeating(2))
        var pair = try ConsentPair.make(storeID: store, passcodeKey: first, randomness: SystemRandomness())
        let privateKey = try pair.unwrap(storeID: store, passcodeKey: first)
        #expect(throws: KeychainError.self) { try pair.unwrap(storeID: store, passcodeKey: second) }
        #expect(throws: KeychainError.self) { try pair.unwrap(storeID: UUID(), passcodeKey: first) }
        let publicKey = pair.publicKey
        try pair.wrap(privateKey, storeID: store, passcodeKey: second)
        #expect(pair.publicKey == publicKey)
        #expect(throws: KeychainError.self) { try pair.unwrap(storeID: store, passcodeKey: first) }
        let same = try pair.unwrap(storeID: store, passcodeKey: second)
        #expect(same.withUnsafeBytes { Data($0) } == privateKey.withUnsafeBytes { Data($0) })
        // Somebody else's public half, put there to be sealed for.
        pair.publicKey = try ConsentPair.make(storeID: store, passcodeKey: first, randomness: SystemRandomness())
            .publicKey
        #expect(throws: KeychainError.self) { try pair.unwrap(storeID: store, passcodeKey: second) }
    }

    @Test("A keybag has the pair if a passcode is set, and comes back with it")
    func keybag() throws {
        let deviceKey = try KeyMaterial.repeating(0xdd)
        let passcodeKey = try KeyMaterial.repeating(3)
        var bag = try Keybag.make(storeID: UUID(), deviceKey: deviceKey, randomness: SystemRandomness())
        let keys = try bag.unwrap(deviceKey: deviceKey)
        try keys.addGeneration(2, hasPasscode: true, randomness: SystemRandomness())
        bag.passcode = try PasscodeParameters.make(cost: 4, randomness: SystemRandomness())
        try bag.wrap(
            try keys.filtered { _, generation in generation == 2 }, deviceKey: deviceKey, passcodeKey: passcodeKey)
        let former = bag.encoded(deviceKey: deviceKey)
        #expect(former.count == 796)
        #expect(try Keybag(decoding: former, deviceKey: deviceKey).consent == nil)
        bag.consent = try ConsentPair.make(
            storeID: bag.storeID, passcodeKey: passcodeKey, randomness: SystemRandomness())
        let bytes = bag.encoded(deviceKey: deviceKey)
        #expect(bytes.count == 878)
        #expect(try Keybag(decoding: bytes, deviceKey: deviceKey) == bag)
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(throws: KeychainError.self) { try Keybag(decoding: changed, deviceKey: deviceKey) }
        }
    }

    // MARK: Helpers

    private static let flags: [AccessControl.Flags] = [
        .devicePasscode, .applicationPassword, [.devicePasscode, .applicationPassword],
    ]

    private static let storeID = UUID(uuidString: "10111213-1415-4617-8819-1A1B1C1D1E1F")!
    private static let rowID = UUID(uuidString: "20212223-2425-4627-8829-2A2B2C2D2E2F")!

    /// What the example has: every key of its own byte, and scrypt at its cheapest.
    private static func keys() throws -> ConstraintKeys {
        // X25519(0c × 32, 9); the example says so too.
        let publicKey = Data(hex: "97c3b10b4d6c133a78ea5dcc1cf6421d3f81ae37b1f628ce14ca6fce7730f333")
        return ConstraintKeys(
            consentPublicKey: publicKey, consent: ConsentKey(publicKey: publicKey, privateKey: try .repeating(0x0c)),
            applicationPassword: try password("a password of the program's"))
    }

    private static func password(_ text: String, cost: UInt8 = 4) throws -> ApplicationPasswordKey {
        try ApplicationPasswordKey(
            SecretBytes(copying: Data(text.utf8)), cost: cost, storeID: storeID, deviceKey: try .repeating(0xdd))
    }

    private static func binding(_ control: AccessControl, row: UUID = rowID) -> RowBinding {
        RowBinding(storeID: storeID, rowID: row, itemClass: .genericPassword, accessControl: control, version: 1)
    }

    private static func seal(_ control: AccessControl, _ keys: ConstraintKeys) throws -> SealedHalf {
        try KeyMaterial.repeating(0xc6).withUnsafeBytes { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding(control)) { sealer throws(KeychainError) in
                try SecretBytes(copying: Data("hunter2".utf8)).withUnsafeBytes { secret throws(KeychainError) in
                    try sealer.seal(secret, as: .secret, constraints: keys, randomness: ExampleRandomness())
                }
            }
        }
    }

    private static func open(
        _ sealed: SealedHalf, _ control: AccessControl, _ keys: ConstraintKeys, row: UUID = rowID,
        classKey: UInt8 = 0xc6
    ) throws -> String {
        try KeyMaterial.repeating(classKey).withUnsafeBytes { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding(control, row: row)) { sealer throws(KeychainError) in
                try sealed.wrappedKey.withUnsafeBytesTyped { wrapped throws(KeychainError) in
                    try sealed.box.withUnsafeBytesTyped { box throws(KeychainError) in
                        let secret = try sealer.openSecret(wrappedKey: wrapped, box: box, constraints: keys)
                        return String(decoding: secret.copyData(), as: UTF8.self)
                    }
                }
            }
        }
    }

    /// How opening ends; nil: well.
    private static func code(
        _ sealed: SealedHalf, _ control: AccessControl, _ keys: ConstraintKeys, row: UUID = rowID,
        classKey: UInt8 = 0xc6
    ) -> KeychainError.Code? {
        do {
            return try open(sealed, control, keys, row: row, classKey: classKey) == "hunter2" ? nil : .internalFailure
        } catch {
            return (error as? KeychainError)?.code ?? .internalFailure
        }
    }
}

/// The half's key and nonce, then the private half of the ephemeral pair.
private final class ExampleRandomness: Randomness, @unchecked Sendable {  // used by one call alone
    private var isFirst = true

    func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        for place in bytes.indices { bytes[place] = isFirst ? (place < 32 ? 0x5e : 0x0a) : 0x0e }
        isFirst = false
    }
}

extension Data {
    fileprivate func withUnsafeBytesTyped<R>(
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var result: Result<R, KeychainError>?
        withUnsafeBytes { bytes in
            do throws(KeychainError) { result = .success(try body(bytes)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}
