import Foundation
import KeychainModel
import KeychainSecurity
import KeychainTestSupport
import Testing

/// I: items by reference, as far as they are keys.
struct I01ReferenceTests {
    private let keys: Item = [kSecClass: kSecClassKey]
    private let reference: Item = [kSecReturnRef: true]
    private let data: Item = [kSecReturnData: true]
    private let all: Item = [kSecMatchLimit: kSecMatchLimitAll]
    private static let pairs: [Pair] = [.rsa1024, .p256]

    private func byLabel(_ key: SecKey) throws -> Item {
        keys.with([kSecAttrApplicationLabel: try #require(try key.attributes["klbl"])])
    }

    @Test("I.1 A key is added by reference once for each tag", arguments: KeychainHost.everyHost, pairs)
    func adds(host: KeychainHost, pair: Pair) throws {
        let item: Item = [kSecValueRef: pair.key, kSecAttrLabel: "L"]
        let bare: Item = [kSecValueRef: pair.key]
        let attributes: Item = [
            kSecAttrLabel: "L", kSecAttrKeyClass: 1, kSecAttrKeyType: pair.isCurve ? 73 : 42,
            kSecAttrKeySizeInBits: pair.bits, kSecAttrEffectiveKeySize: pair.bits, kSecAttrCanSign: 1,
            kSecAttrCanEncrypt: 0, kSecAttrIsPermanent: 1,
            kSecAttrApplicationLabel: try #require(try pair.key.attributes["klbl"]),
        ]
        let wanted: Item = [kSecReturnAttributes: true]
        try table(
            host,
            [
                .add(item, .nothing), .add(item, .duplicate),
                .add(bare.with([kSecAttrLabel: "other"]), .duplicate),
                .add(item.with([kSecAttrApplicationTag: bytes("tag")]), .success),
                .add([kSecValueRef: try pair.publicKey], .success),
                .find(keys.with([kSecAttrLabel: "L", kSecReturnData: true]), .data(try pair.key.bytes)),
                .find(keys.with([kSecAttrLabel: "L"]).with(wanted), .dictionary(attributes, without: [kSecValueData])),
                .find(keys.with(all).with(wanted), .array(of: 3)),
            ])
    }

    @Test("I.1 An add by reference returns what is asked for", arguments: KeychainHost.everyHost)
    func addReturns(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key: SecKey = try added([kSecValueRef: Pair.p256.key, kSecReturnRef: true])
            #expect(key == Pair.p256.key)
            keychain.run([
                .add(([kSecValueRef: try Pair.p256.publicKey] as Item).with(data), .data(try Pair.p256.publicKey.bytes))
            ])
            let reference: Data = try added([kSecValueRef: Pair.p384.key, kSecReturnPersistentRef: true])
            #expect(
                try found([kSecValuePersistentRef: reference, kSecReturnRef: true], as: SecKey.self) == Pair.p384.key)
        }
    }

    @Test("I.1 What the caller says wins over what the key says", arguments: KeychainHost.everyHost)
    func callerWins(host: KeychainHost) throws {
        let item: Item = [
            kSecValueRef: Pair.p256.key, kSecAttrApplicationLabel: bytes("mine"), kSecAttrCanSign: false,
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
        ]
        try table(
            host,
            [
                .add(item, .success),
                .find(
                    keys.with([kSecReturnAttributes: true]),
                    .dictionary([
                        kSecAttrApplicationLabel: bytes("mine"), kSecAttrCanSign: 0, kSecAttrAccessible: "ck",
                    ])),
                // A reference means the row of the label that the key has by itself.
                .find([kSecValueRef: Pair.p256.key], .notFound),
                .add([kSecValueRef: Pair.p256.key], .success),
                .find([kSecValueRef: Pair.p256.key], .success),
            ])
    }

    @Test("I.1 What the reference is counts, also beside another class", arguments: KeychainHost.everyHost)
    func classOfReference(host: KeychainHost) throws {
        let item: Item = [kSecValueRef: Pair.p256.key, kSecClass: kSecClassCertificate]
        try table(
            host,
            [
                .add(item, .success), .find(keys, .success), .find(item, .success),
                .find([kSecClass: kSecClassCertificate], .notFound), .delete(item, .success), .find(keys, .notFound),
            ])
    }

    @Test("I.2 A key that is found by its label is equal, and is used", arguments: KeychainHost.everyHost, pairs)
    func finds(host: KeychainHost, pair: Pair) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add([kSecValueRef: pair.key], .success)])
            let key: SecKey = try found(byLabel(pair.key).with(reference))
            #expect(key == pair.key)
            #expect(try key.bytes == (try pair.key.bytes))
            let algorithm: SecKeyAlgorithm =
                pair.isCurve ? .ecdsaSignatureMessageX962SHA256 : .rsaSignatureMessagePKCS1v15SHA256
            let message = bytes("What is signed")
            try pair.publicKey.verify(try key.sign(message, algorithm), of: message, algorithm)
            #expect(areEqual(try key.attributes, try pair.key.attributes))
        }
    }

    @Test("I.2 A key that was added by its bytes is found by reference too", arguments: KeychainHost.everyHost, pairs)
    func findsAddedByBytes(host: KeychainHost, pair: Pair) throws {
        let item = keys.with([
            kSecAttrKeyType: pair.type, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrApplicationTag: bytes("tag"),
            kSecValueData: try pair.key.bytes,
        ])
        try withKeychain(host) { keychain in
            keychain.run([.add(item, .success)])
            let query = keys.with([kSecAttrApplicationTag: bytes("tag")])
            let key: SecKey = try found(query.with(reference))
            #expect(key == pair.key)
            // Nothing is derived for bytes, and a reference means the derived label.
            keychain.run([.find([kSecValueRef: pair.key], .notFound)])
        }
    }

    @Test("I.3 A reference comes beside attributes and data in one dictionary", arguments: KeychainHost.everyHost)
    func shapes(host: KeychainHost) throws {
        let key = Pair.p256.key
        let whole = keys.with(reference)
        let attributes: Item = [kSecReturnAttributes: true]
        try table(
            host,
            [
                .add([kSecValueRef: key, kSecAttrLabel: "L"], .success),
                .find(
                    whole.with(attributes),
                    .dictionary([kSecValueRef: key, kSecAttrLabel: "L", kSecClass: "keys"], without: [kSecValueData])),
                .find(
                    whole.with(data),
                    .dictionary([kSecValueRef: key, kSecValueData: try key.bytes], without: [kSecAttrLabel])),
                .find(
                    whole.with(data).with(attributes).with([kSecReturnPersistentRef: true]),
                    .dictionary([kSecValueRef: key, kSecValueData: try key.bytes, kSecAttrLabel: "L"])),
                .find(
                    whole.with(attributes).with([kSecMatchLimit: kSecMatchLimitAll]),
                    .dictionaryInArray([kSecValueRef: key, kSecAttrLabel: "L"])),
            ])
    }

    @Test("I.4 All keys come as an array of keys", arguments: KeychainHost.everyHost)
    func arrays(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let expected = [Pair.rsa1024.key, Pair.p256.key, try Pair.p384.publicKey]
            keychain.run(expected.map { .add([kSecValueRef: $0], .success) })
            let result: [SecKey] = try found(keys.with(all).with(reference))
            #expect(result.count == 3 && Set(result) == Set(expected))
            var one: CFTypeRef?
            #expect(SecItemCopyMatching(keys.with(reference) as CFDictionary, &one) == errSecSuccess)
            #expect(expected.contains(one as! SecKey))
            let none = keys.with(all).with(reference).with([kSecAttrLabel: "none"])
            keychain.run([.find(none, .notFound), .find(keys.with(reference).with([kSecMatchLimit: 2]), .array(of: 2))])
        }
    }

    @Test("I.5 A reference finds, changes and deletes its own rows alone", arguments: KeychainHost.everyHost)
    func byReference(host: KeychainHost) throws {
        let (one, half, other): (Item, Item, Item) = (
            [kSecValueRef: Pair.p256.key], [kSecValueRef: try Pair.p256.publicKey], [kSecValueRef: Pair.p384.key]
        )
        let changes: Item = [kSecAttrLabel: "new"]
        try table(
            host,
            [
                .find(one, .notFound), .delete(one, .notFound), .update(one, changes, .notFound),
                .add(one, .success), .add(half, .success),
                .find(one.with(reference), .success), .find(one.with(data), .data(try Pair.p256.key.bytes)),
                .find(other, .notFound), .delete(other, .notFound), .update(other, changes, .notFound),
                .update(one, changes, .success), .find(keys.with(changes).with(all).with(data), .array(of: 1)),
                .find(one.with(changes), .success), .find(half.with(changes), .notFound),
                .delete(one, .success), .find(one, .notFound), .find(half, .success),
                .delete(half, .success), .find(keys, .notFound),
            ])
    }

    @Test("I.6 Bytes that are no key stay data, and have no reference", arguments: KeychainHost.everyHost)
    func opaqueBytes(host: KeychainHost) throws {
        let decode = Outcome.decode
        let rows = [
            Fixtures.privateKey, Fixtures.privateKey.without(kSecValueData),
            Fixtures.privateKey.with([kSecAttrKeyType: kSecAttrKeyTypeAES, kSecValueData: Data(count: 32)]),
            Fixtures.privateKey.with([kSecAttrKeyClass: kSecAttrKeyClassSymmetric]),
            Fixtures.privateKey.with([kSecAttrKeyType: kSecAttrKeyTypeRSA]),
            // A private key that says it is a public one.
            Fixtures.privateKey.with([
                kSecAttrKeyClass: kSecAttrKeyClassPublic, kSecValueData: try Pair.p256.key.bytes,
            ]),
        ].flatMap { item -> [Row] in
            [
                .add(item.with(reference), decode), .find(item.query, .notFound),
                .add(item, .success),
                .find(item.query.with(reference), decode),
                .find(item.query.with(reference).with(all), decode),
                .find(item.query.with(reference).with([kSecReturnAttributes: true]), decode),
                .find(item.query.with(data), (item[kSecValueData] as? Data).map { .data($0) } ?? .nothing),
                // It does not hide the others.
                .add([kSecValueRef: Pair.p384.key], .success), .find(keys.with(reference).with(all), .array(of: 1)),
                .delete(keys, .success),
            ]
        }
        try table(host, rows)
    }

    @Test("I.7 A locked key has no reference", arguments: KeychainHost.everyHost)
    func locked(host: KeychainHost) throws {
        let open: Item = [kSecValueRef: Pair.p384.key, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            keychain.run([
                .add([kSecValueRef: Pair.p256.key], .success), .add(open, .success), .lock(),
                .find(try byLabel(Pair.p256.key).with(reference), .interactionNotAllowed),
                .find(([kSecValueRef: Pair.p256.key] as Item).with(reference), .interactionNotAllowed),
                .find(keys.with(all).with(reference), .interactionNotAllowed),
                .find(try byLabel(Pair.p384.key).with(reference), .success),
                .add([kSecValueRef: Pair.p521.key], .interactionNotAllowed),
                // Which half a row is, only the row itself tells: it has no index for it.
                .delete([kSecValueRef: Pair.p256.key], .interactionNotAllowed),
                .delete(try byLabel(Pair.p256.key), .success),
                .unlock("1234"), .find(try byLabel(Pair.p256.key).with(reference), .notFound),
            ])
        }
    }

    @Test("I.8 A key that asks for a person asks once, when it is fetched", arguments: KeychainHost.everyHost)
    func asksOnce(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            // The key that is made is free in this process; its row is not.
            let made = try SecKey.make(
                kSecAttrKeyTypeECSECPrimeRandom, 256,
                [kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrAccessControl: control] as Item])
            let message = bytes("What is signed")
            _ = try made.sign(message, .ecdsaSignatureMessageX962SHA256)
            #expect(keychain.prompter.questions.isEmpty)
            keychain.prompter.answer(.text("1234"))
            let key: SecKey = try found(keys.with(reference))
            #expect(key == made)
            #expect(keychain.prompter.questions.count == 1)
            for _ in 0..<3 {
                try made.publicKey.verify(
                    try key.sign(message, .ecdsaSignatureMessageX962SHA256), of: message,
                    .ecdsaSignatureMessageX962SHA256)
            }
            #expect(keychain.prompter.questions.count == 1)
            keychain.run([
                .find(
                    keys.with(reference).with([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]),
                    .interactionNotAllowed)
            ])
        }
    }

    @Test("I.17 What is no reference is refused in every call", arguments: KeychainHost.everyHost)
    func wrongObjects(host: KeychainHost) throws {
        let wrong: [Any] = ["text", 1, Data([1]), NSObject(), NSNull(), [Pair.p256.key]]
        let rows = wrong.flatMap { value -> [Row] in
            let item = keys.with([kSecValueRef: value])
            return [
                .add(item, .parameter), .find(item, .parameter), .update(item, [kSecAttrLabel: "new"], .parameter),
                .delete(item, .parameter), .find([kSecValueRef: value], .parameter),
            ]
        }
        try table(host, [.add(Fixtures.privateKey, .success)] + rows + [.find(Fixtures.privateKey.query, .success)])
    }

    @Test("I.19 An update sets no reference", arguments: KeychainHost.everyHost)
    func updateWithReference(host: KeychainHost) throws {
        let one: Item = [kSecValueRef: Pair.p256.key]
        try table(
            host,
            [
                .add(one, .success),
                .update(one, [kSecValueRef: Pair.p384.key], .parameter),
                .update(keys, [kSecValueRef: Pair.p256.key, kSecAttrLabel: "new"], .parameter),
                .update(keys, [kSecValueRef: "text"], .parameter),
                .find(one.with(data), .data(try Pair.p256.key.bytes)),
            ])
    }
}
