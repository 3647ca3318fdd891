import Foundation
import KeychainCrypto
import KeychainKeys
import KeychainSecurity
import KeychainTestSupport
import Testing

/// Keys for chains. Their certificates are made in each test.
enum TrustKeys {
    static let root = ec(256)
    static let authority = ec(384)
    static let leaf = ec(256)
    static let other = ec(256)
    static let levels = (0..<4).map { _ in ec(256) }
    static let rsa2048 = rsa(2048)
    static let rsa1024 = rsa(1024)
    static let rsa512 = rsa(512)

    // Keys of these kinds and sizes can always be made.
    private static func ec(_ bits: Int) -> AsymmetricKey { try! AsymmetricKey(generating: .ec, bitCount: bits) }
    private static func rsa(_ bits: Int) -> AsymmetricKey { try! AsymmetricKey(generating: .rsa, bitCount: bits) }
}

/// A root, an authority below it and a leaf for `leaf.example`, each of which can be changed before it is made.
struct TestChain {
    var root = CertificateRecipe("root", TrustKeys.root, by: ("root", TrustKeys.root))
    var authority = CertificateRecipe("authority", TrustKeys.authority, by: ("root", TrustKeys.root))
    var leaf = CertificateRecipe("leaf", TrustKeys.leaf, by: ("authority", TrustKeys.authority))

    /// A moment at which all are valid.
    static let date = Date(timeIntervalSince1970: 1_700_000_000 + 86_400)

    init() {
        root.notAfter = Date(timeIntervalSince1970: 2_000_000_000)
        root.extensions = [.basicConstraints()]
        authority.serial = 2
        authority.extensions = [.basicConstraints(), .keyUsage(0x04)]
        leaf.extensions = [.names([.host("leaf.example")]), .server]
    }

    init(_ change: (inout TestChain) -> Void) {
        self.init()
        change(&self)
    }

    var certificates: (root: SecCertificate, authority: SecCertificate, leaf: SecCertificate) {
        get throws { (try .read(root.der()), try .read(authority.der()), try .read(leaf.der())) }
    }

    /// The verdict about leaf and authority with the root as the only anchor.
    func verdict(_ policy: SecPolicy = .server, at date: Date = TestChain.date) throws -> TrustVerdict {
        let (root, authority, leaf) = try certificates
        return try TrustVerdict(of: [leaf, authority], policy, anchors: [root], at: date)
    }
}

extension SecPolicy {
    static var basic: SecPolicy { SecPolicyCreateBasicX509() }
    static var server: SecPolicy { SecPolicyCreateSSL(true, "leaf.example") }
    static var client: SecPolicy { SecPolicyCreateSSL(false, nil) }

    static func server(_ host: String) -> SecPolicy { SecPolicyCreateSSL(true, host as NSString) }
}

/// The outcome of an evaluation, to be compared.
struct TrustVerdict: Equatable {
    /// 0 of a chain that is trusted.
    let status: Int
    let result: SecTrustResultType
    let count: Int

    static func trusted(_ count: Int) -> TrustVerdict { TrustVerdict(status: 0, result: .unspecified, count: count) }

    static func failed(
        _ status: OSStatus, _ count: Int = 3, _ result: SecTrustResultType = .recoverableTrustFailure
    ) -> TrustVerdict {
        TrustVerdict(status: Int(status), result: result, count: count)
    }

    private init(status: Int, result: SecTrustResultType, count: Int) {
        (self.status, self.result, self.count) = (status, result, count)
    }

    init(
        of certificates: [SecCertificate], _ policy: SecPolicy = .basic, anchors: [SecCertificate]?,
        at date: Date = TestChain.date
    ) throws {
        self.init(of: try SecTrust.made(certificates, policy, anchors: anchors, at: date))
    }

    init(of trust: SecTrust) {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        var result = SecTrustResultType.invalid
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess)
        #expect(isTrusted == (error == nil) && isTrusted == (result == .unspecified || result == .proceed))
        self.init(status: error?.code ?? 0, result: result, count: SecTrustGetCertificateCount(trust))
    }
}

extension SecTrust {
    static func made(
        _ certificates: [SecCertificate], _ policy: SecPolicy = .basic, anchors: [SecCertificate]?,
        at date: Date = TestChain.date
    ) throws -> SecTrust {
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificates as NSArray, policy, &trust) == errSecSuccess)
        let made = try #require(trust)
        #expect(SecTrustSetVerifyDate(made, date as NSDate) == errSecSuccess)
        if let anchors { #expect(SecTrustSetAnchorCertificates(made, anchors as NSArray) == errSecSuccess) }
        return made
    }

    var chain: [SecCertificate] { SecTrustCopyCertificateChain(self) as? [SecCertificate] ?? [] }
}
