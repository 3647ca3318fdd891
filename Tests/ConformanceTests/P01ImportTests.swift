import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// P: files of keys and certificates (PKCS#12).
struct P01ImportTests {
    private let chain: Chain

    init() throws { chain = try Chain.made() }

    /// With the leaf's key.
    private func file(
        _ certificates: [Data]? = nil, key: Data? = nil, passphrase: String = "open", _ options: [String] = []
    ) throws -> Data {
        try OpenSSL.pkcs12(
            key: try key ?? Pair.p256.openSSLPrivate, certificates: certificates ?? [chain.leaf],
            passphrase: passphrase, options)
    }

    @Test("P.1 A file as OpenSSL 3 writes it has one identity with its chain and its trust")
    func usual() throws {
        let item = try #require(try imported(file([chain.leaf, chain.authority, chain.root])).first)
        let identity = try item.identity
        let expected = try expectedIdentity
        #expect(identity == expected)
        #expect(try item.chain == [chain.leaf, chain.authority, chain.root])
        let trust = try #require(item["trust"] as? SecTrust)
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        let anchors = [try SecCertificate.read(chain.root)] as NSArray
        #expect(SecTrustSetAnchorCertificates(trust, anchors) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
    }

    @Test("P.2 Files with the ciphers of PKCS#12 open, as OpenSSL 1 wrote them")
    func formerCiphers() throws {
        #expect(try imported(file(["-legacy"])).count == 1)
        let names = ["RC2-40", "RC2-128", "RC4-40", "RC4-128", "2DES", "3DES"]
        for name in names { try check("PBE-SHA1-" + name) }
    }

    @Test(
        "P.3 Each digest of the code, and PBES2 with each cipher",
        arguments: ["sha1", "sha224", "sha256", "sha384", "sha512"])
    func digests(name: String) throws {
        for cipher in ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des-ede3-cbc"] {
            let file = try file(nil, ["-macalg", name, "-keypbe", cipher, "-certpbe", cipher])
            #expect(try imported(file).first?.identity != nil, "\(cipher)")
            #expect(imports(file, "other").status == errSecAuthFailed, "\(cipher)")
        }
    }

    @Test("P.4 Keys of each kind", arguments: [Pair.rsa1024, .rsa2048, .p256, .p384, .p521])
    func kinds(pair: Pair) throws {
        let key = try pair.openSSLPrivate
        let certificate = try OpenSSL.certificate("/CN=\(pair)", key: key)
        let identity = try #require(try imported(file([certificate], key: key)).first).identity
        var found: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &found) == errSecSuccess)
        #expect(found == pair.key)
    }

    @Test("P.5 A wrong passphrase, none and a file without a code are failures of authentication")
    func passphrases() throws {
        let file = try file()
        #expect(imports(file, "other").status == errSecAuthFailed)
        #expect(imports(file, "").status == errSecAuthFailed)
        #expect(imports(file, nil).status == errSecAuthFailed)
        #expect(imports(try self.file(["-nomac"]), "open").status == errSecAuthFailed)
        #expect(imports(file, options: [kSecImportExportPassphrase: 1]).status == errSecParam)
    }

    @Test("P.6 What is no such file is a failure to decode, and leaves the place as it was")
    func garbage() throws {
        let file = try file()
        let others = [
            Data(), Data("garbage".utf8), chain.leaf, file.dropLast(), file.prefix(20), file.prefix(file.count / 2),
        ]
        for bytes in others {
            let outcome = imports(Data(bytes), "open")
            #expect(outcome.status == errSecDecode, "\(bytes.count) bytes")
            #expect(outcome.items == nil)
        }
    }

    @Test("P.7 The chain is in its order whatever the file's is")
    func orders() throws {
        let (leaf, authority, root) = (chain.leaf, chain.authority, chain.root)
        for order in [[leaf, root, authority], [root, authority, leaf], [authority, leaf, root]] {
            #expect(try #require(try imported(file(order)).first).chain == [leaf, authority, root])
        }
        #expect(try #require(try imported(file([leaf, root])).first).chain == [leaf])
    }

    @Test("P.8 A file of certificates alone has no identities")
    func certificatesAlone() throws {
        let file = try OpenSSL.pkcs12(key: nil, certificates: [chain.leaf, chain.root], passphrase: "open")
        #expect(try imported(file).isEmpty)
        let fixture = try PKCS12Fixture.named("certificates alone")
        #expect(try imported(fixture.file, fixture.passphrase).isEmpty)
    }

    @Test("P.9 Each key with its certificate is an identity of its own")
    func several() throws {
        for name in ["two identities", "Java", "Java 8"] {
            let fixture = try PKCS12Fixture.named(name)
            let items = try imported(fixture.file, fixture.passphrase)
            #expect(Set(try items.map { try $0.identity }).count == 2, "\(name)")
        }
    }

    @Test("P.10 Nothing is stored unless it is asked for, and then twice is fine", arguments: KeychainHost.everyHost)
    func stored(host: KeychainHost) throws {
        let file = try file([chain.leaf, chain.authority, chain.root])
        let identities = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
        try withKeychain(host) { _ in
            for options in [[:], [kSecUseDataProtectionKeychain: true, kSecImportToMemoryOnly: true]] as [Item] {
                #expect(
                    imports(file, options: options.with([kSecImportExportPassphrase: "open"])).status == errSecSuccess)
                #expect(SecItemCopyMatching(identities, nil) == errSecItemNotFound)
            }
            let options: Item = [kSecImportExportPassphrase: "open", kSecUseDataProtectionKeychain: true]
            for _ in 0..<2 { #expect(imports(file, options: options).status == errSecSuccess) }
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(identities, &result) == errSecSuccess)
            let expected = try expectedIdentity
            #expect(result as? SecIdentity == expected)
            let all = [kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
            #expect(SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess)
            #expect(Set(result as? [Data] ?? []) == [chain.leaf, chain.authority, chain.root])
        }
    }

    @Test("P.10 What is missing of an identity and its chain is added", arguments: KeychainHost.everyHost)
    func completed(host: KeychainHost) throws {
        let file = try file([chain.leaf, chain.authority])
        try withKeychain(host) { _ in
            let known = [kSecValueRef: try SecCertificate.read(chain.authority), kSecAttrLabel: "mine"] as CFDictionary
            #expect(SecItemAdd(known, nil) == errSecSuccess)
            let options: Item = [kSecImportExportPassphrase: "open", kSecUseDataProtectionKeychain: true]
            #expect(imports(file, options: options).status == errSecSuccess)
            let query = [
                kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            let labels = (result as? [Attributes] ?? []).compactMap { $0["labl"] as? String }
            #expect(Set(labels) == ["mine", "Leaf One"])
            #expect(SecItemCopyMatching([kSecClass: kSecClassIdentity] as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test("P.11 An empty passphrase opens files in both of its forms, and none is as good as it")
    func emptyPassphrase() throws {
        var files = [try file(nil, passphrase: "")]
        for name in ["empty passphrase", "no passphrase"] { files.append(try PKCS12Fixture.named(name).file) }
        for file in files {
            #expect(try imported(file, "").count == 1)
            #expect(try imported(file, nil).count == 1)
            #expect(imports(file, "other").status == errSecAuthFailed)
        }
    }

    @Test("P.12 The label is the subject's, and the key's identifier that of its items")
    func labels() throws {
        let item = try #require(try imported(file(nil, ["-name", "other"])).first)
        #expect(item["label"] as? String == "Leaf One")
        let identifier = try Pair.p256.key.attributes["klbl"] as? Data
        #expect(identifier != nil && item["keyid"] as? Data == identifier)
    }

    @Test("P.13 Files of NSS, GnuTLS and Java open, and those in BER, with PBMAC1 and with bags in bags")
    func otherPrograms() throws {
        for name in ["NSS", "GnuTLS 3des-pkcs12", "GnuTLS aes-128", "GnuTLS rc2-40", "Java", "marked ends", "PBMAC1"] {
            try check(name)
        }
        for name in ["bags in bags", "plain bags", "wide passphrase"] { try check(name) }
    }

    @Test("P.14 A file that asks for too much work, or has a key of another kind, is a failure to decode")
    func refused() throws {
        let names = ["ten million rounds and one", "two thousand million rounds", "costly parts", "Ed25519"]
        for name in names {
            let fixture = try PKCS12Fixture.named(name)
            #expect(imports(fixture.file, fixture.passphrase).status == errSecDecode, "\(name)")
        }
    }

    private func check(_ name: String) throws {
        let fixture = try PKCS12Fixture.named(name)
        #expect(try imported(fixture.file, fixture.passphrase).count == fixture.keys, "\(name)")
        #expect(imports(fixture.file, "other").status == errSecAuthFailed, "\(name)")
    }

    private var expectedIdentity: SecIdentity? {
        get throws { SecIdentityCreate(nil, try .read(chain.leaf), Pair.p256.key) }
    }

    private func file(_ options: [String]) throws -> Data { try file(nil, options) }
}

// MARK: Calls

private func imports(_ file: Data, _ passphrase: String?) -> (status: OSStatus, items: [Attributes]?) {
    imports(file, options: passphrase.map { [kSecImportExportPassphrase: $0] } ?? [:])
}

private func imports(_ file: Data, options: Item) -> (status: OSStatus, items: [Attributes]?) {
    var items: CFArray?
    let status = SecPKCS12Import(file as NSData, options as CFDictionary, &items)
    return (status, items as? [Attributes])
}

private func imported(_ file: Data, _ passphrase: String? = "open") throws -> [Attributes] {
    let outcome = imports(file, passphrase)
    guard outcome.status == errSecSuccess else { throw Failure(code: Int(outcome.status)) }
    return try #require(outcome.items)
}

extension Attributes {
    fileprivate var identity: SecIdentity {
        get throws { try #require(self["identity"] as? SecIdentity) }
    }

    fileprivate var chain: [Data] {
        get throws { try #require(self["chain"] as? [SecCertificate]).map(\.der) }
    }
}
