import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// The same chains, judged by this keychain and by `openssl verify`. Where the two differ, the case says why.
struct TrustComparisonTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var host = "leaf.example"
        var date = TestChain.date
        var sendsAuthority = true
        /// nil: both say the same.
        var difference: String?
        let change: @Sendable (inout TestChain) -> Void

        var testDescription: String { name }
    }

    private static let names = CertificateExtensionRecipe.names([.host("leaf.example")])

    private static func leaf(_ extensions: CertificateExtensionRecipe...) -> @Sendable (inout TestChain) -> Void {
        { $0.leaf.extensions = extensions }
    }

    private static func authority(_ extensions: CertificateExtensionRecipe...) -> @Sendable (inout TestChain) -> Void {
        { $0.authority.extensions = extensions }
    }

    private static func constrained(
        permitted: [CertificateExtensionRecipe.Name] = [], excluded: [CertificateExtensionRecipe.Name] = []
    ) -> @Sendable (inout TestChain) -> Void {
        { $0.authority.extensions.append(.nameConstraints(permitted: permitted, excluded: excluded)) }
    }

    static let cases: [Case] = [
        Case(name: "sound") { _ in },
        Case(name: "no authority", sendsAuthority: false) { _ in },
        Case(name: "too early", date: TestChain().leaf.notBefore - 1) { _ in },
        Case(name: "too late", date: TestChain().leaf.notAfter + 1) { _ in },
        Case(name: "authority expired") { $0.authority.notAfter = TestChain.date - 1 },
        Case(name: "root expired") {
            $0.root.notAfter = TestChain.date - 1
        },
        Case(name: "signed by another key") { $0.leaf.signer = TrustKeys.other },
        Case(name: "two algorithms") { $0.leaf.innerDigest = .sha1 },
        Case(name: "other host", host: "other.example") { _ in },
        Case(name: "wildcard", host: "a.leaf.example", change: leaf(.names([.host("*.leaf.example")]), .server)),
        Case(
            name: "wildcard of two labels", host: "a.b.leaf.example",
            change: leaf(.names([.host("*.leaf.example")]), .server)),
        Case(
            name: "wildcard within a label", host: "apple.leaf.example",
            difference: "a wildcard is a whole label",
            change: leaf(.names([.host("ap*.leaf.example")]), .server)),
        Case(
            name: "wildcard before a country's registry", host: "a.co.uk",
            difference: "strangers have hosts below such a name",
            change: leaf(.names([.host("*.co.uk")]), .server)),
        Case(name: "common name alone", difference: "a common name is no host") {
            ($0.leaf.subject, $0.leaf.extensions) = ("leaf.example", [.server])
        },
        Case(name: "for clients", change: leaf(names, .client)),
        Case(name: "no purpose", difference: "since July 2019 a server's certificate has one", change: leaf(names)),
        Case(
            name: "any purpose", change: leaf(names, .purposes("2.5.29.37.0"))),
        Case(name: "authority for clients", change: authority(.basicConstraints(), .keyUsage(0x04), .client)),
        Case(
            name: "authority for any purpose", difference: "OpenSSL takes \"any\" of an authority for no purpose",
            change: authority(.basicConstraints(), .purposes("2.5.29.37.0"))),
        Case(name: "no authority by its flag", change: authority(.basicConstraints(isAuthority: false))),
        Case(name: "no constraints", change: authority(.keyUsage(0x04))),
        Case(name: "key for data alone", change: authority(.basicConstraints(), .keyUsage(0x80))),
        Case(name: "no authority below", change: authority(.basicConstraints(0), .keyUsage(0x04))),
        Case(name: "no authority below the root") { $0.root.extensions = [.basicConstraints(0), .keyUsage(0x04)] },
        Case(
            name: "unknown critical extension",
            change: leaf(names, .server, .init("1.2.3.4", critical: true, Data([5, 0])))),
        Case(name: "unknown extension", change: leaf(names, .server, .init("1.2.3.4", Data([5, 0])))),
        Case(name: "permitted host", change: constrained(permitted: [.host("example")])),
        Case(name: "host not permitted", change: constrained(permitted: [.host("other")])),
        Case(name: "excluded host", change: constrained(excluded: [.host("leaf.example")])),
        Case(name: "permitted subject", change: constrained(permitted: [.directory("leaf")])),
        Case(name: "subject not permitted", change: constrained(permitted: [.directory("other")])),
        Case(name: "SHA-1", difference: "OpenSSL refuses it at level 1, as it is built for Debian, and Apple does") {
            $0.leaf.digest = .sha1
        },
        Case(name: "RSA of 1,024 bits", difference: "OpenSSL takes 80 bits of security at level 1") {
            $0.leaf.key = TrustKeys.rsa1024
        },
        Case(name: "valid for 826 days", difference: "825 days are the most") {
            $0.leaf.notAfter = $0.leaf.notBefore + 826 * 86_400
        },
        Case(name: "other key identifier") {
            $0.authority.extensions.append(.subjectKeyIdentifier(Data([1])))
            $0.leaf.extensions.append(.authorityKeyIdentifier(Data([2])))
        },
        Case(name: "demanded policy is there") {
            $0.authority.extensions += [.requireExplicitPolicy(0), .policies("1.2.3")]
            $0.leaf.extensions.append(.policies("1.2.3"))
        },
        Case(name: "demanded policy is missing") {
            $0.authority.extensions += [.requireExplicitPolicy(0), .policies("1.2.3")]
            $0.leaf.extensions.append(.policies("1.2.4"))
        },
        Case(name: "mapped policy") {
            $0.authority.extensions += [
                .requireExplicitPolicy(0), .policies("1.2.3"), .policyMapping("1.2.3", "1.2.4"),
            ]
            $0.leaf.extensions.append(.policies("1.2.4"))
        },
        Case(name: "an extension twice", change: leaf(names, .server, .server)),
        Case(name: "keys of both kinds") {
            ($0.authority.key, $0.leaf.signer) = (TrustKeys.rsa2048, TrustKeys.rsa2048)
        },
    ]

    @Test("TR.36 A chain is trusted if OpenSSL trusts it", arguments: cases)
    func agrees(one: Case) throws {
        let chain = TestChain(one.change)
        let (root, authority, leaf) = try chain.certificates
        let sent = one.sendsAuthority ? [leaf, authority] : [leaf]
        let ours = try TrustVerdict(of: sent, .server(one.host), anchors: [root], at: one.date).status == 0
        let theirs = try Self.trusts(leaf, one.sendsAuthority ? authority : nil, root, one.host, one.date)
        #expect((ours == theirs) == (one.difference == nil), "ours: \(ours), OpenSSL's: \(theirs)")
    }

    private static func trusts(
        _ leaf: SecCertificate, _ authority: SecCertificate?, _ root: SecCertificate, _ host: String, _ date: Date
    ) throws -> Bool {
        func pem(_ certificate: SecCertificate) -> Data {
            Data(
                ("-----BEGIN CERTIFICATE-----\n" + certificate.der.base64EncodedString(options: .lineLength64Characters)
                    + "\n-----END CERTIFICATE-----\n").utf8)
        }
        let untrusted = authority == nil ? [] : ["-untrusted", "authority"]
        let words =
            ["verify", "-policy_check", "-policy", "2.5.29.32.0", "-purpose", "sslserver", "-verify_hostname", host]
            + ["-attime", "\(Int(date.timeIntervalSince1970))", "-CAfile", "root"] + untrusted + ["leaf"]
        var files = ["leaf": pem(leaf), "root": pem(root)]
        files["authority"] = authority.map(pem)
        return try OpenSSL.run(words, files).status == 0
    }
}
