import Foundation
import SwiftASN1
import X509

extension Certificate {
    /// A certificate for this machine that the key has signed for itself.
    static func selfSigned(_ key: PrivateKey, _ algorithm: SignatureAlgorithm) async throws -> Certificate {
        let name = try DistinguishedName { CommonName("localhost") }
        return try await Certificate(
            version: .v3, serialNumber: SerialNumber(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: name, subject: name, signatureAlgorithm: algorithm,
            extensions: Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
                SubjectAlternativeNames([.dnsName("localhost")])
            },
            issuerAsyncPrivateKey: key)
    }
}

extension Certificate {
    var pem: String {
        get throws { try serializeAsPEM().pemString }
    }
}

extension TestKey {
    /// The algorithm that suits the key.
    var certificateAlgorithm: Certificate.SignatureAlgorithm {
        switch self {
        case .rsa: .sha256WithRSAEncryption
        case .p256, .engine: .ecdsaWithSHA256
        case .p384: .ecdsaWithSHA384
        case .p521: .ecdsaWithSHA512
        }
    }
}
