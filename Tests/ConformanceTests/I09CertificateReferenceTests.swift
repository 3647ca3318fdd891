import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// I: items by reference, as far as they are certificates and identities.
struct I09CertificateReferenceTests {
    private let certificates: Item = [kSecClass: kSecClassCertificate]
    private let identities: Item = [kSecClass: kSecClassIdentity]
    private let reference: Item = [kSecReturnRef: true]
    private let all: Item = [kSecMatchLimit: kSecMatchLimitAll]
    private let chain: Chain
    private let leaf: SecCertificate
    private let renewed: SecCertificate
    private let identity: SecIdentity

    init() throws {
        chain = try Chain.made()
        leaf = try .read(chain.leaf)
        renewed = try .read(chain.renewed)
        identity = try #require(SecIdentityCreate(nil, leaf, Pair.p256.key))
    }

    @Test("I.9 A certificate added by reference has the attributes of its content", arguments: KeychainHost.everyHost)
    func attributes(host: KeychainHost) throws {
        let subject = try #require(SecCertificateCopyNormalizedSubjectSequence(leaf)) as Data
        let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(leaf)) as Data
        let attributes: Item = [
            kSecAttrLabel: "Leaf One", kSecAttrCertificateType: 3, kSecAttrCertificateEncoding: 3,
            kSecAttrSubject: subject.dropFirst(2), kSecAttrIssuer: issuer.dropFirst(2),
            kSecAttrSerialNumber: Data([0x00, 0xF1, 0xE2]),
            kSecAttrPublicKeyHash: try #require(try Pair.p256.key.attributes["klbl"]),
            kSecAttrSubjectKeyID: try #require(try Pair.p256.key.attributes["klbl"]),
        ]
        #expect(try OpenSSL.say("-serial", of: chain.leaf) == "serial=F1E2")
        try table(
            host,
            [
                .add([kSecValueRef: leaf], .nothing),
                .find(
                    certificates.with([kSecReturnAttributes: true]), .dictionary(attributes, without: [kSecValueData])),
                .find(certificates.with([kSecReturnData: true]), .data(chain.leaf)),
                .add([kSecValueRef: renewed, kSecAttrLabel: "mine"], .success),
                .find(certificates.with([kSecAttrLabel: "mine", kSecReturnData: true]), .data(chain.renewed)),
            ])
    }

    @Test("T4.6 T4.9 An add returns the certificate, alone and beside all else", arguments: KeychainHost.everyHost)
    func addReturns(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            #expect(try added([kSecValueRef: leaf, kSecReturnRef: true], as: SecCertificate.self) == leaf)
            let wanted: Item = [
                kSecReturnRef: true, kSecReturnData: true, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            ]
            let result = try added(([kSecValueRef: renewed] as Item).with(wanted), as: Attributes.self)
            #expect(result["v_Ref"] as? SecCertificate == renewed)
            #expect(result["v_Data"] as? Data == chain.renewed)
            #expect(result["class"] as? String == "cert" && result["labl"] as? String == "Leaf One")
            #expect((result["v_PersistentRef"] as? Data)?.count == 20)
        }
    }

    @Test("T4.3 I.10 The same certificate with another label is there already", arguments: KeychainHost.everyHost)
    func same(host: KeychainHost) throws {
        try table(
            host,
            [
                .add([kSecValueRef: leaf], .success), .add([kSecValueRef: leaf, kSecAttrLabel: "other"], .duplicate),
                .add(certificates.with([kSecValueRef: leaf]), .duplicate),
                .find([kSecValueRef: leaf, kSecReturnData: true], .data(chain.leaf)),
                .find([kSecValueRef: renewed], .notFound), .delete([kSecValueRef: renewed], .notFound),
                .update([kSecValueRef: leaf], [kSecAttrLabel: "changed"], .success),
                .find(certificates.with([kSecAttrLabel: "changed"]), .success),
                .delete([kSecValueRef: leaf], .success), .find([kSecValueRef: leaf], .notFound),
            ])
    }

    @Test("I.11 A certificate is found by its issuer in another spelling", arguments: KeychainHost.everyHost)
    func spelling(host: KeychainHost) throws {
        let name = try #require(SecCertificateCopyNormalizedIssuerSequence(leaf)) as Data
        let country = try #require(name.firstRange(of: bytes("CH")))
        var other = name
        other.replaceSubrange(country, with: bytes("ch"))
        let query = certificates.with([kSecAttrSerialNumber: Data([0x00, 0xF1, 0xE2])])
        try table(
            host,
            [
                .add([kSecValueRef: leaf], .success),
                .find(query.with([kSecAttrIssuer: name]), .success),
                .find(query.with([kSecAttrIssuer: other]), .success),
                .find(query.with([kSecAttrIssuer: name.dropFirst(2)]), .success),
                .find(query.with([kSecAttrIssuer: other.dropFirst(2)]), .notFound),
            ])
    }

    @Test(
        "T5.1 T5.3 T5.17 I.12 Certificate and key make an identity, whichever comes first",
        arguments: KeychainHost.everyHost, [true, false])
    func joins(host: KeychainHost, certificateFirst: Bool) throws {
        try withKeychain(host) { keychain in
            let halves: [Item] = [[kSecValueRef: leaf], [kSecValueRef: Pair.p256.key]]
            keychain.run((certificateFirst ? halves : halves.reversed()).map { Row.add($0, .success) })
            let found = try found(identities.with(reference), as: SecIdentity.self)
            #expect(found == identity)
            #expect(SecIdentityCreate(nil, leaf, Pair.p384.key) == nil)
            var (certificate, key): (SecCertificate?, SecKey?)
            #expect(SecIdentityCopyCertificate(found, &certificate) == errSecSuccess)
            #expect(SecIdentityCopyPrivateKey(found, &key) == errSecSuccess)
            #expect(certificate == leaf && key == Pair.p256.key)
            let signature = try #require(key).sign(bytes("m"), .ecdsaSignatureMessageX962SHA256)
            try #require(SecCertificateCopyKey(leaf)).verify(
                signature, of: bytes("m"), .ecdsaSignatureMessageX962SHA256)
        }
    }

    @Test("T5.7 I.13 An identity is added unless both halves are there", arguments: KeychainHost.everyHost)
    func adds(host: KeychainHost) throws {
        let item: Item = [kSecValueRef: identity]
        try table(
            host,
            [
                .add(item, .nothing), .add(item, .duplicate),
                .delete([kSecValueRef: Pair.p256.key], .success), .find(identities, .notFound), .add(item, .success),
                .delete([kSecValueRef: leaf], .success), .add(item, .success), .find(identities, .success),
                .add(item.with([kSecMatchLimit: kSecMatchLimitAll]), .parameter),
            ])
    }

    @Test(
        "T5.12 I.14 An identity's class may stand beside it, and a label goes to both halves",
        arguments: KeychainHost.everyHost)
    func labels(host: KeychainHost) throws {
        let item = identities.with([kSecValueRef: identity])
        try table(
            host,
            [
                .add(item.with([kSecAttrLabel: "L"]), .success),
                .find(identities.with([kSecAttrLabel: "L"]), .success),
                .find(certificates.with([kSecAttrLabel: "L", kSecReturnData: true]), .data(chain.leaf)),
                .find([kSecClass: kSecClassKey, kSecAttrLabel: "L"], .success),
                .update(item, [kSecAttrLabel: "M"], .success),
                .find(identities.with([kSecAttrLabel: "M"]), .success),
                .find(identities.with([kSecAttrLabel: "L"]), .notFound),
            ])
    }

    @Test("I.15 The key goes with its last certificate", arguments: KeychainHost.everyHost)
    func deletes(host: KeychainHost) throws {
        let second = try #require(SecIdentityCreate(nil, renewed, Pair.p256.key))
        let key: Item = [kSecValueRef: Pair.p256.key]
        try table(
            host,
            [
                .add([kSecValueRef: identity], .success), .add([kSecValueRef: second], .success),
                .find(identities.with(all).with(reference), .array(of: 2)),
                .delete([kSecValueRef: identity], .success), .find([kSecValueRef: leaf], .notFound),
                .find(key, .success),
                .delete([kSecValueRef: second], .success), .find(key, .notFound),
                .find([kSecValueRef: renewed], .notFound),
            ])
    }

    @Test("T5.6 T5.9 T5.10 I.16 An identity's persistent reference leads to it", arguments: KeychainHost.everyHost)
    func persistent(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let persistent: Data = try added([kSecValueRef: identity, kSecReturnPersistentRef: true])
            #expect(persistent.prefix(4) == bytes("idnt"))
            #expect(
                try found([kSecValuePersistentRef: persistent, kSecReturnRef: true], as: SecIdentity.self) == identity)
            let certificate = try found([kSecValueRef: leaf, kSecReturnPersistentRef: true], as: Data.self)
            #expect(certificate.suffix(16) == persistent.suffix(16))
            let key = try found([kSecValueRef: Pair.p256.key, kSecReturnPersistentRef: true], as: Data.self)
            #expect(key.prefix(4) == bytes("keys"))
            #expect(
                try found([kSecValueRef: identity, kSecReturnPersistentRef: true], as: Data.self) == persistent)
            #expect(SecItemDelete([kSecValueRef: identity] as CFDictionary) == errSecSuccess)
            let query = [kSecValuePersistentRef: persistent] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
        }
    }

    @Test("I.18 Match keys ask the certificate itself", arguments: KeychainHost.everyHost)
    func matchKeys(host: KeychainHost) throws {
        func name(_ der: Data) throws -> Data {
            try #require(SecCertificateCopyNormalizedSubjectSequence(try .read(der))) as Data
        }
        let day: TimeInterval = 24 * 60 * 60
        let query = certificates.with(all).with([kSecReturnData: true])
        func matching(_ key: CFString, _ value: Any, _ outcome: Outcome) -> Row {
            .find(query.with([key: value]), outcome)
        }
        let others = try [chain.root, chain.authority].map {
            Row.add([kSecValueRef: try SecCertificate.read($0)], .success)
        }
        try table(
            host,
            others + [
                .add([kSecValueRef: identity], .success), .add([kSecValueRef: renewed], .success),
                matching(kSecMatchIssuers, [try name(chain.authority)], .array(of: 2)),
                // The root has issued itself, the authority, and through that the leaves.
                matching(kSecMatchIssuers, [try name(chain.root)], .array(of: 4)),
                matching(kSecMatchIssuers, [try name(chain.leaf)], .notFound),
                matching(kSecMatchIssuers, [bytes("no name")], .parameter),
                matching(kSecMatchEmailAddressIfPresent, "LEAF@example.org", .array(of: 2)),
                matching(kSecMatchEmailAddressIfPresent, "other@example.org", .notFound),
                matching(kSecMatchValidOnDate, NSNull(), .array(of: 4)),
                matching(kSecMatchValidOnDate, Date() + 400 * day, .array(of: 1)),
                matching(kSecMatchValidOnDate, Date() - day, .notFound),
                matching(kSecMatchSubjectContains, "f O", .array(of: 2)),
                matching(kSecMatchSubjectStartsWith, "Leaf", .array(of: 2)),
                matching(kSecMatchSubjectEndsWith, "root", .array(of: 1)),
                matching(kSecMatchSubjectWholeString, "Leaf", .notFound),
                .find(
                    query.with([kSecMatchSubjectWholeString: "LEAF one", kSecMatchCaseInsensitive: true]), .array(of: 2)
                ),
                .find(
                    certificates.with([kSecMatchEmailAddressIfPresent: "leaf@example.org", kSecMatchLimit: 1]), .success
                ),
                .find(
                    identities.with(all).with(reference).with([kSecMatchIssuers: [try name(chain.root)]]), .array(of: 2)
                ),
            ])
    }

    @Test("T5.2 I.12 The private key of a certificate is looked for in the keychain", arguments: KeychainHost.everyHost)
    func privateKey(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var found: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, leaf, &found) == errSecItemNotFound)
            #expect(found == nil)
            keychain.run([.add([kSecValueRef: Pair.p256.key], .success)])
            #expect(SecIdentityCreateWithCertificate(nil, leaf, &found) == errSecSuccess)
            #expect(found == identity)
        }
    }

    @Test(
        "I.12 An identity whose key is in the engine signs, and is found by reference", arguments: KeychainHost.everyHost
    )
    func keyInEngine(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let key = try SecKey.make(
                kSecAttrKeyTypeECSECPrimeRandom, 256, [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave])
            // OpenSSL cannot sign with it, so the root does.
            let certificate = try SecCertificate.read(
                try OpenSSL.certificate(
                    forPublicKey: OpenSSL.publicKeyInfo(point: try key.publicKey.bytes), "/CN=engine",
                    issuer: (chain.root, try Pair.p384.openSSLPrivate)))
            let identity = try #require(SecIdentityCreate(nil, certificate, key))
            #expect(SecItemAdd([kSecValueRef: identity] as CFDictionary, nil) == errSecSuccess)
            let found = try found(identities.with(reference), as: SecIdentity.self)
            #expect(found == identity)
            var foundKey: SecKey?
            #expect(SecIdentityCopyPrivateKey(found, &foundKey) == errSecSuccess)
            let signature = try #require(foundKey).sign(bytes("m"), .ecdsaSignatureMessageX962SHA256)
            try #require(SecCertificateCopyKey(certificate)).verify(
                signature, of: bytes("m"), .ecdsaSignatureMessageX962SHA256)
            // The certificate's token says nothing about the key's.
            #expect(
                SecItemUpdate(
                    [kSecValueRef: certificate] as CFDictionary, [kSecAttrTokenID: "other"] as CFDictionary)
                    == errSecSuccess)
            let again: SecIdentity = try ConformanceTests.found(identities.with(reference))
            #expect(again == identity)
        }
    }

    @Test("T5.6 I.13 Its persistent reference is returned without a question", arguments: KeychainHost.everyHost)
    func addsConstrained(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            let item: Item = [
                kSecValueRef: identity, kSecAttrAccessControl: control, kSecReturnPersistentRef: true,
            ]
            let persistent: Data = try added(item)
            #expect(persistent.prefix(4) == bytes("idnt"))
            #expect(keychain.prompter.questions.isEmpty)
            keychain.run([.add(item, .duplicate)])
        }
    }

    @Test("C.6 What is no certificate has no reference, and is not added for one", arguments: KeychainHost.everyHost)
    func opaqueBytes(host: KeychainHost) throws {
        let certificate = Fixtures.certificate
        try table(
            host,
            [
                .add(certificate.with(reference), .decode), .find(certificate.query, .notFound),
                .add(certificate, .success), .add(Fixtures.privateKey, .success),
                .find(certificate.query.with(reference), .decode), .find(Fixtures.identity.with(reference), .decode),
                .find(Fixtures.identity, .success), .find([kSecValueRef: NSObject()], .parameter),
            ])
    }
}
