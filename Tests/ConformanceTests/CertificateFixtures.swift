import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// A root, an authority below it and a leaf, made with OpenSSL once. The leaf's key is `Pair.p256`.
struct Chain: Sendable {
    let root: Data
    let authority: Data
    let leaf: Data
    /// For the same key, with another serial number and a later end.
    let renewed: Data

    static func made() throws -> Chain { try chain.get() }

    private static let chain = Result { try Chain() }

    private init() throws {
        let keys = (
            root: try Pair.p384.openSSLPrivate, authority: try Pair.p521.openSSLPrivate,
            leaf: try Pair.p256.openSSLPrivate
        )
        root = try OpenSSL.certificate("/C=CH/O=Example/CN=root", key: keys.root)
        authority = try OpenSSL.certificate(
            "/C=CH/O=Example/CN=authority", key: keys.authority, extensions: ["basicConstraints=critical,CA:TRUE"],
            issuer: (root, keys.root), serial: 2)
        let issuer = (certificate: authority, key: keys.authority)
        func makeLeaf(_ serial: Int, _ days: Int) throws -> Data {
            try OpenSSL.certificate(
                "/C=CH/O=Example/CN=Leaf One", key: keys.leaf,
                extensions: ["subjectAltName=DNS:leaf.example,email:leaf@example.org", "subjectKeyIdentifier=hash"],
                issuer: issuer, serial: serial, days: days)
        }
        leaf = try makeLeaf(0xF1E2, 365)
        renewed = try makeLeaf(0xF1E3, 3650)
    }
}

extension SecCertificate {
    static func read(_ der: Data) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, der as NSData))
    }

    var der: Data { SecCertificateCopyData(self) as Data }
}
