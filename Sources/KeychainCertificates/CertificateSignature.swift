internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainKeys
internal import SwiftASN1

/// The issuer's signature of a certificate.
struct CertificateSignature: Sendable {
    /// The signed part of the certificate, as encoded.
    let content: ArraySlice<UInt8>
    /// The algorithm as the signed part names it.
    let innerAlgorithm: AlgorithmIdentifier
    /// The algorithm as it stands beside the signature.
    let algorithm: AlgorithmIdentifier
    let bits: ASN1BitString
    /// nil for one that is not known here.
    let scheme: Scheme?

    init(
        content: ArraySlice<UInt8>, innerAlgorithm: AlgorithmIdentifier, algorithm: AlgorithmIdentifier,
        bits: ASN1BitString
    ) {
        (self.content, self.innerAlgorithm, self.algorithm, self.bits) = (content, innerAlgorithm, algorithm, bits)
        scheme = Scheme(algorithm)
    }

    enum Scheme: Equatable {
        case rsa(DigestAlgorithm)
        case rsaPSS(DigestAlgorithm)
        case ecdsa(DigestAlgorithm)
        case ed25519
        /// The digest is MD2, MD4 or MD5, for which another certificate with the same signature is easily made.
        case brokenDigest

        var usesSHA1: Bool {
            switch self {
            case .rsa(.sha1), .rsaPSS(.sha1), .ecdsa(.sha1): true
            default: false
            }
        }

        /// Whether two identifiers of a certificate both name the scheme. RSA's old schemes have no parameters: NULL stands for them or nothing,
        /// and either is accepted (RFC 4055, section 5).
        fileprivate func isNamed(by one: AlgorithmIdentifier, _ other: AlgorithmIdentifier) -> Bool {
            switch self {
            case .rsa, .brokenDigest: one.withoutNull == other.withoutNull
            case .rsaPSS, .ecdsa, .ed25519: one == other
            }
        }
    }

    /// Whether the signature is that of a key. A signature with a broken digest is never looked at: no such certificate
    /// is trusted.
    func isValid(by key: PublicKeyInfo) -> Bool {
        guard bits.paddingBits == 0, let scheme, scheme.isNamed(by: algorithm, innerAlgorithm) else { return false }
        let (message, signature) = (Data(content), Data(bits.bytes))
        switch scheme {
        case .brokenDigest: return true
        case .ed25519:
            return key.algorithm.algorithm == .ed25519
                && Ed25519.isSignature(signature, of: message, by: key.bytes)
        case .rsa(let digest):
            return key.isSignature(signature, of: message, .rsaPKCS1(.message, digest))
        case .rsaPSS(let digest): return key.isSignature(signature, of: message, .rsaPSS(.message, digest))
        case .ecdsa(let digest): return key.isSignature(signature, of: message, .ecdsa(.x962, .message, digest))
        }
    }
}

extension PublicKeyInfo {
    fileprivate func isSignature(_ signature: Data, of message: Data, _ algorithm: KeyAlgorithm.Signature) -> Bool {
        switch (kind, algorithm) {
        case (.rsa, .rsaPKCS1), (.rsa, .rsaPSS), (.rsaPSS, .rsaPSS):
            guard permits(algorithm) else { return false }
            guard let key = try? RSAKey(publicBytes: bytes) else { return false }
            return (try? key.verify(signature, of: message, algorithm)) ?? false
        case (.curve(let name?), .ecdsa):
            guard let curve = Curve(objectIdentifier: name), let key = try? ECKey(curve, point: bytes) else {
                return false
            }
            return (try? key.verify(signature, of: message, algorithm)) ?? false
        default: return false
        }
    }

    /// A key for RSA-PSS may name the one digest that it is for.
    private func permits(_ signature: KeyAlgorithm.Signature) -> Bool {
        guard case .rsaPSS = kind, let parameters = algorithm.parameters else { return true }
        guard case .rsaPSS(_, let digest) = signature else { return false }
        return (try? PSSParameters(asn1Any: parameters).digest) == digest
    }
}

extension CertificateSignature.Scheme {
    /// RFC 3279, RFC 4055, RFC 5758, RFC 8410.
    private static let byName: [ASN1ObjectIdentifier: CertificateSignature.Scheme] = [
        [1, 2, 840, 113_549, 1, 1, 2]: .brokenDigest, [1, 2, 840, 113_549, 1, 1, 3]: .brokenDigest,
        [1, 2, 840, 113_549, 1, 1, 4]: .brokenDigest, [1, 2, 840, 113_549, 1, 1, 5]: .rsa(.sha1),
        [1, 3, 14, 3, 2, 29]: .rsa(.sha1), [1, 2, 840, 113_549, 1, 1, 14]: .rsa(.sha224),
        [1, 2, 840, 113_549, 1, 1, 11]: .rsa(.sha256), [1, 2, 840, 113_549, 1, 1, 12]: .rsa(.sha384),
        [1, 2, 840, 113_549, 1, 1, 13]: .rsa(.sha512), [1, 2, 840, 10_045, 4, 1]: .ecdsa(.sha1),
        [1, 2, 840, 10_045, 4, 3, 1]: .ecdsa(.sha224), [1, 2, 840, 10_045, 4, 3, 2]: .ecdsa(.sha256),
        [1, 2, 840, 10_045, 4, 3, 3]: .ecdsa(.sha384), [1, 2, 840, 10_045, 4, 3, 4]: .ecdsa(.sha512),
        .ed25519: .ed25519,
    ]

    fileprivate init?(_ identifier: AlgorithmIdentifier) {
        if identifier.algorithm == .rsaPSS {
            guard let parameters = identifier.parameters,
                let digest = try? PSSParameters(asn1Any: parameters).digest
            else { return nil }
            self = .rsaPSS(digest)
        } else {
            guard let scheme = Self.byName[identifier.algorithm] else { return nil }
            self = scheme
        }
    }
}

/// The parameters of RSA-PSS (RFC 4055, section 3.1), in the one combination that is in use: one digest, and a salt as long as it is.
private struct PSSParameters: DERParseable {
    let digest: DigestAlgorithm

    private static let digests: [ASN1ObjectIdentifier: DigestAlgorithm] = [
        [1, 3, 14, 3, 2, 26]: .sha1, [2, 16, 840, 1, 101, 3, 4, 2, 4]: .sha224,
        [2, 16, 840, 1, 101, 3, 4, 2, 1]: .sha256, [2, 16, 840, 1, 101, 3, 4, 2, 2]: .sha384,
        [2, 16, 840, 1, 101, 3, 4, 2, 3]: .sha512,
    ]

    private static let mgf1: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 8]

    init(derEncoded root: ASN1Node) throws {
        digest = try DER.sequence(root, identifier: .sequence) { nodes in
            func tagged<Value: DERParseable>(_ number: UInt, _ type: Value.Type) throws -> Value? {
                try DER.optionalExplicitlyTagged(
                    &nodes, tagNumber: number, tagClass: .contextSpecific, Value.init(derEncoded:))
            }
            let hash = try tagged(0, AlgorithmIdentifier.self).map { Self.digests[$0.algorithm] } ?? .sha1
            let mask = try tagged(1, AlgorithmIdentifier.self)
            let saltByteCount = try tagged(2, Int.self) ?? 20
            let trailer = try tagged(3, Int.self) ?? 1
            guard let hash, saltByteCount == hash.byteCount, trailer == 1, try Self.maskDigest(mask) == hash else {
                throw ASN1Error.invalidASN1Object(reason: "RSA-PSS has one digest, and a salt of its length")
            }
            return hash
        }
    }

    private static func maskDigest(_ mask: AlgorithmIdentifier?) throws -> DigestAlgorithm? {
        guard let mask else { return .sha1 }
        guard mask.algorithm == mgf1, let parameters = mask.parameters else { return nil }
        return digests[try AlgorithmIdentifier(asn1Any: parameters).algorithm]
    }
}
