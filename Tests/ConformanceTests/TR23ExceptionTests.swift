import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// TR: trust, as far as it is about exceptions, policies as objects, the system's anchors and searches.
struct TR23ExceptionTests {
    private let chain = TestChain()
    private let root: SecCertificate
    private let authority: SecCertificate
    private let leaf: SecCertificate
    private var late: Date { chain.leaf.notAfter + 1 }

    init() throws { (root, authority, leaf) = try chain.certificates }

    private func made(_ policy: SecPolicy = .basic, at date: Date) throws -> SecTrust {
        try SecTrust.made([leaf, authority], policy, anchors: [root], at: date)
    }

    @Test("TR.23 Exceptions excuse the flaws of one certificate")
    func exceptions() throws {
        let expired = try made(at: late)
        let exceptions = try #require(SecTrustCopyExceptions(expired))
        #expect(TrustVerdict(of: expired) == .failed(errSecCertificateExpired))
        let trust = try made(at: late)
        #expect(SecTrustSetExceptions(trust, exceptions))
        var verdict = TrustVerdict(of: trust)
        #expect(verdict.status == 0 && verdict.result == .proceed)
        // Without anything to excuse, too.
        #expect(SecTrustSetVerifyDate(trust, TestChain.date as NSDate) == errSecSuccess)
        #expect(TrustVerdict(of: trust).result == .proceed)
        // Another flaw is not excused.
        #expect(SecTrustSetPolicies(trust, SecPolicy.server("other.example")) == errSecSuccess)
        #expect(TrustVerdict(of: trust) == .failed(errSecHostNameMismatch))
        #expect(!SecTrustSetExceptions(trust, nil))
        #expect(SecTrustSetExceptions(trust, nil))
        verdict = TrustVerdict(of: try made(at: TestChain.date))
        #expect(verdict == .trusted(3))
    }

    @Test("TR.23 Exceptions of another certificate, and bytes that are none, are dropped")
    func foreignExceptions() throws {
        let exceptions = try #require(SecTrustCopyExceptions(try made(at: late)))
        var recipe = chain.leaf
        recipe.serial = 2
        let other = try SecCertificate.read(recipe.der())
        let trust = try SecTrust.made([other, authority], anchors: [root], at: late)
        for data in [exceptions, NSData(), NSData(data: Data("text".utf8))] {
            #expect(!SecTrustSetExceptions(trust, data))
            #expect(TrustVerdict(of: trust) == .failed(errSecCertificateExpired))
        }
    }

    @Test("TR.23 A fatal flaw is never excused")
    func fatal() throws {
        let chain = TestChain { $0.leaf.digest = .md5 }
        let (root, authority, leaf) = try chain.certificates
        let trust = try SecTrust.made([leaf, authority], anchors: [root], at: late)
        let exceptions = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, exceptions))
        #expect(TrustVerdict(of: trust) == .failed(errSecInvalidDigestAlgorithm, 3, .fatalTrustFailure))
    }

    @Test("TR.24 A policy gives back what it was made of")
    func policyProperties() throws {
        let revocation = try #require(SecPolicyCreateRevocation(kSecRevocationOCSPMethod))
        let policies = [
            .basic, .server, .client, revocation, SecPolicyCreateSSL(true, nil), SecPolicyCreateSSL(false, "host"),
        ]
        for policy in policies {
            let properties = try #require(SecPolicyCopyProperties(policy))
            let identifier = properties[kSecPolicyOid] as AnyObject
            #expect(SecPolicyCreateWithProperties(identifier, properties) == policy)
        }
        #expect(Set(policies).count == policies.count)
        let named = SecPolicyCopyProperties(.server) as? [String: String]
        #expect(named == ["SecPolicyOid": "1.2.840.113635.100.1.3", "SecPolicyName": "leaf.example"])
        let client = SecPolicyCopyProperties(.client)
        #expect(client?["SecPolicyClient"] as? Bool == true && client?["SecPolicyName"] == nil)
        for flags: CFOptionFlags in [0, 32, 1 << 40] { #expect(SecPolicyCreateRevocation(flags) == nil) }
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSMIME, nil) == nil)
        #expect(SecPolicyCreateWithProperties(NSNumber(value: 1), nil) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [kSecPolicyName: 1] as NSDictionary) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleRevocation, nil) == nil)
    }

    @Test("TR.35 Settings about the network are kept, and their types are looked at")
    func network() throws {
        let trust = try made(.server, at: TestChain.date)
        var allows: DarwinBoolean = false
        #expect(SecTrustGetNetworkFetchAllowed(trust, &allows) == errSecSuccess && allows.boolValue)
        #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
        #expect(SecTrustGetNetworkFetchAllowed(trust, &allows) == errSecSuccess && !allows.boolValue)
        for answer: AnyObject? in [nil, NSData(), [NSData()] as NSArray] {
            #expect(SecTrustSetOCSPResponse(trust, answer) == errSecSuccess)
        }
        #expect(SecTrustSetOCSPResponse(trust, "text" as NSString) == errSecParam)
        #expect(SecTrustSetOCSPResponse(trust, ["text"] as NSArray) == errSecParam)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, nil) == errSecSuccess)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, [NSData()] as NSArray) == errSecSuccess)
        #expect(TrustVerdict(of: trust) == .trusted(3))
    }

    @Test("I.18 A search keeps what a policy accepts, and what is trusted", arguments: KeychainHost.everyHost)
    func matchKeys(host: KeychainHost) throws {
        let query: Item = [
            kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
        ]
        let (date, other) = (TestChain.date as NSDate, SecPolicy.server("other.example"))
        func matching(_ keys: Item, _ outcome: Outcome) -> Row { .find(query.with(keys), outcome) }
        try table(
            host,
            [
                .add([kSecValueRef: leaf], .success), .add([kSecValueRef: authority], .success),
                .add([kSecValueRef: root], .success),
                // The leaf alone, whoever issued it.
                matching([kSecMatchPolicy: SecPolicy.server, kSecMatchValidOnDate: date], .array(of: 1)),
                matching([kSecMatchPolicy: other, kSecMatchValidOnDate: date], .notFound),
                matching([kSecMatchPolicy: SecPolicy.server, kSecMatchValidOnDate: late as NSDate], .notFound),
                // Nothing of the chain is trusted by the system.
                matching([kSecMatchPolicy: SecPolicy.basic, kSecMatchValidOnDate: date], .notFound),
                matching([kSecMatchTrustedOnly: true, kSecMatchValidOnDate: date], .notFound),
                matching([kSecMatchTrustedOnly: false, kSecMatchValidOnDate: date], .array(of: 3)),
                matching([kSecMatchPolicy: "text"], .parameter), matching([kSecMatchTrustedOnly: "text"], .parameter),
            ])
    }

    @Test("I.17 An object of trust is no reference")
    func noReference() throws {
        try withKeychain { _ in
            let trust = try made(at: TestChain.date)
            #expect(SecItemAdd([kSecValueRef: trust] as NSDictionary, nil) == errSecParam)
            #expect(SecItemCopyMatching([kSecValueRef: trust] as NSDictionary, nil) == errSecParam)
        }
    }
}
