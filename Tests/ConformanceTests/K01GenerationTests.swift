import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K1 to K12: new pairs, and where their halves go.
struct K01GenerationTests {
    private let curve: Item = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
    private let keys: Item = [kSecClass: kSecClassKey]
    private let wanted: Item = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]

    /// The rows of keys, those of public halves first.
    private func rows() throws -> [Attributes] {
        try found(keys.with(wanted), as: [Attributes].self).sorted {
            ($0["kcls"] as? Int ?? 9) < ($1["kcls"] as? Int ?? 9)
        }
    }

    // MARK: Without a keychain

    @Test(
        "K.1 K.2 A new key is a private half of the size asked for, and so is its public half", arguments: Pair.allCases
    )
    func sizes(pair: Pair) throws {
        let blocks: [Pair: Int] = [
            .rsa512: 64, .rsa1024: 128, .rsa2048: 256, .rsa4096: 512, .p256: 32, .p384: 48, .p521: 66,
        ]
        for (key, keyClass) in [(pair.key, "1"), (try pair.publicKey, "0")] {
            #expect(key.blockSize == blocks[pair])
            let attributes = try key.attributes
            #expect(attributes["kcls"] as? String == keyClass)
            #expect(attributes["bsiz"] as? Int == pair.bits)
        }
    }

    @Test("K.3 The size may be a text, and no other size is rounded to one that there is")
    func sizeAsText() throws {
        #expect(try SecKey.make(curve.with([kSecAttrKeySizeInBits: "256"])).blockSize == 32)
        #expect(try SecKey.make(curve.with(["bsiz" as CFString: NSNumber(value: 384)])).blockSize == 48)
        for size: Any in [257, 255, 192, 0, -256, "", "p256", Data([1])] {
            #expect(throws: Failure.parameter, "\(size)") { try SecKey.make(curve.with([kSecAttrKeySizeInBits: size])) }
        }
        #expect(throws: Failure.parameter) { try SecKey.make(curve.without(kSecAttrKeySizeInBits)) }
    }

    @Test("K.4 Without a type that there is, no key is made")
    func types() {
        #expect(throws: Failure.parameter) { try SecKey.make(curve.without(kSecAttrKeyType)) }
        for type: Any in ["99", 99, "", "EC", Data([73])] {
            #expect(throws: Failure.parameter, "\(type)") { try SecKey.make(curve.with([kSecAttrKeyType: type])) }
        }
    }

    @Test("K.5 An RSA key has 512 to 8,192 bits", arguments: [100, 511, 513, 1023, 8193, 16384, 1 << 40])
    func sizesOfRSA(bits: Int) {
        #expect(throws: Failure.parameter) { try SecKey.make(kSecAttrKeyTypeRSA, bits) }
    }

    // MARK: With one

    @Test("K.6 A key that is not permanent is stored nowhere", arguments: KeychainHost.everyHost)
    func notPermanent(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            _ = try SecKey.make(curve)
            _ = try SecKey.make(curve.with([kSecAttrIsPermanent: false, kSecAttrLabel: "L"]))
            _ = try SecKey.make(curve.with([kSecPrivateKeyAttrs: [kSecAttrLabel: "L"], kSecPublicKeyAttrs: Item()]))
            keychain.run([.find(keys, .notFound)])
        }
    }

    @Test("K.7 A pair that is permanent as a whole has a row for each half", arguments: KeychainHost.everyHost)
    func bothHalves(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let own: Item = [
                kSecAttrIsPermanent: true, kSecAttrLabel: "L", kSecAttrApplicationTag: bytes("tag"),
                kSecAttrAccessGroup: "G2",
            ]
            let key = try SecKey.make(curve.with(own))
            let rows = try rows()
            try #require(rows.count == 2)
            for (row, half) in zip(rows, [try key.publicKey, key]) {
                #expect(row["labl"] as? String == "L")
                #expect(row["atag"] as? Data == bytes("tag"))
                #expect(row["agrp"] as? String == "G2")
                #expect(row["klbl"] as? Data == (try half.attributes["klbl"] as? Data))
                #expect(row["kcls"] as? Int == (half == key ? 1 : 0))
                #expect(row["type"] as? Int == 73)
                #expect(row["bsiz"] as? Int == 256)
                #expect(row["perm"] as? Int == 1)
            }
            let ofHalf: (CFString) -> Item = { keys.with([kSecAttrKeyClass: $0, kSecReturnData: true]) }
            #expect(try found(ofHalf(kSecAttrKeyClassPrivate), as: Data.self) == (try key.bytes))
            #expect(try found(ofHalf(kSecAttrKeyClassPublic), as: Data.self) == (try key.publicKey.bytes))
        }
    }

    @Test("K.8 A half is stored if its own attributes say so", arguments: KeychainHost.everyHost, [0, 1])
    func oneHalf(host: KeychainHost, keyClass: Int) throws {
        try withKeychain(host) { _ in
            let half = keyClass == 1 ? kSecPrivateKeyAttrs : kSecPublicKeyAttrs
            _ = try SecKey.make(curve.with([half: [kSecAttrIsPermanent: true] as Item]))
            #expect(try rows().map { $0["kcls"] as? Int } == [keyClass])
        }
    }

    @Test("K.8 A half may say that it is not stored where the pair is", arguments: KeychainHost.everyHost)
    func notThisHalf(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let notThis: Item = [kSecAttrIsPermanent: false]
            _ = try SecKey.make(curve.with([kSecAttrIsPermanent: true, kSecPublicKeyAttrs: notThis]))
            #expect(try rows().map { $0["kcls"] as? Int } == [1])
        }
    }

    @Test("K.9 The attributes of a half win over those of the pair", arguments: KeychainHost.everyHost)
    func halfWins(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let own: Item = [kSecAttrLabel: "own"]
            _ = try SecKey.make(
                curve.with([kSecAttrIsPermanent: true, kSecAttrLabel: "common", kSecPrivateKeyAttrs: own]))
            #expect(try rows().map { $0["labl"] as? String } == ["common", "own"])
        }
    }

    @Test("K.10 A text does not make a key permanent", arguments: KeychainHost.everyHost)
    func permanentAsText(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            _ = try SecKey.make(curve.with([kSecAttrIsPermanent: "yes"]))
            _ = try SecKey.make(curve.with([kSecPrivateKeyAttrs: [kSecAttrIsPermanent: "1"] as Item]))
            keychain.run([.find(keys, .notFound)])
            // The number that Foundation on Linux does not always tell from a Boolean.
            _ = try SecKey.make(curve.with([kSecPrivateKeyAttrs: [kSecAttrIsPermanent: 1] as Item]))
            #expect(try rows().count == 1)
        }
    }

    @Test("K.11 A half has the protection that it asks for", arguments: KeychainHost.everyHost)
    func protection(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let own: Item = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]
            _ = try SecKey.make(curve.with([kSecAttrIsPermanent: true, kSecPrivateKeyAttrs: own]))
            #expect(try rows().map { $0["pdmn"] as? String } == ["ak", "ck"])
        }
    }

    @Test("K.12 The former function gives both halves, or the code of the error", arguments: KeychainHost.everyHost)
    func formerFunction(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var (publicKey, privateKey): (SecKey?, SecKey?)
            #expect(former.generatePair(curve, &publicKey, &privateKey) == errSecSuccess)
            let key = try #require(privateKey)
            #expect(try key.publicKey == publicKey)
            #expect(publicKey?.blockSize == 32)
            keychain.run([.find(keys, .notFound)])
            #expect(former.generatePair(curve.with([kSecAttrIsPermanent: true]), nil, nil) == errSecSuccess)
            #expect(try rows().count == 2)
            (publicKey, privateKey) = (nil, nil)
            let wrong = curve.with([kSecAttrKeySizeInBits: 257])
            #expect(former.generatePair(wrong, &publicKey, &privateKey) == errSecParam)
            #expect(publicKey == nil && privateKey == nil)
        }
    }

    @Test("K.55 A key that cannot be stored is no key", arguments: KeychainHost.everyHost)
    func failingAdd(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let permanent = curve.with([kSecAttrIsPermanent: true])
            #expect(throws: Failure.missingEntitlement) {
                try SecKey.make(permanent.with([kSecAttrAccessGroup: "G3"]))
            }
            #expect(throws: Failure.parameter) {
                try SecKey.make(permanent.with([kSecPrivateKeyAttrs: "text"]))
            }
            keychain.run([.find(keys, .notFound)])
            let tag: Item = [kSecAttrApplicationTag: bytes("t"), kSecAttrApplicationLabel: bytes("one for all")]
            _ = try SecKey.make(permanent.with(tag))
            #expect(throws: Failure.duplicate) { try SecKey.make(permanent.with(tag)) }
            #expect(try rows().count == 2)
            try keychain.setPasscode("1234")
            try keychain.lock()
            #expect(throws: Failure.interactionNotAllowed) { try SecKey.make(permanent) }
        }
    }
}
