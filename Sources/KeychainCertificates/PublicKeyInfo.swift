internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainKeys
internal import SwiftASN1

/// A public key as certificates have it: `SubjectPublicKeyInfo`.
struct PublicKeyInfo: DERParseable, Sendable {
    let algorithm: AlgorithmIdentifier
    /// PKCS#1's `RSAPublicKey`, or a point of a curve.
    let key: ASN1BitString

    let kind: Kind
    /// The bits of an RSA modulus, or of a curve's field; nil for keys of other kinds, and for bytes that cannot be
    /// read.
    let bitCount: Int?

    init(derEncoded root: ASN1Node) throws {
        let (algorithm, key) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try AlgorithmIdentifier(derEncoded: &nodes), try ASN1BitString(derEncoded: &nodes))
        }
        (self.algorithm, self.key, kind) = (algorithm, key, Kind(algorithm))
        bitCount = kind.bitCount(of: key)
    }

    var bytes: Data { Data(key.bytes) }

    enum Kind {
        case rsa
        /// The scheme is for RSA-PSS alone.
        case rsaPSS
        /// A curve, which is nil if it is described or not named here.
        case curve(ASN1ObjectIdentifier?)
        case ed25519
        case other
    }
}

extension PublicKeyInfo.Kind {
    fileprivate init(_ algorithm: AlgorithmIdentifier) {
        self =
            switch algorithm.algorithm {
            case .rsaEncryption: .rsa
            case .rsaPSS: .rsaPSS
            case .ecPublicKey: .curve(algorithm.parameters.flatMap { try? ASN1ObjectIdentifier(asn1Any: $0) })
            case .ed25519: .ed25519
            default: .other
            }
    }

    fileprivate func bitCount(of key: ASN1BitString) -> Int? {
        switch self {
        case .rsa, .rsaPSS: Self.modulusBitCount(key)
        case .curve(let name?): Self.fieldBitCount(name, key)
        case .ed25519: 255
        case .curve(nil), .other: nil
        }
    }

    /// Also of keys that are too small or too large for any use.
    private static func modulusBitCount(_ key: ASN1BitString) -> Int? {
        let modulus = try? DER.sequence(DER.parse(key.bytes), identifier: .sequence) { nodes in
            let modulus = try ArraySlice<UInt8>(derEncoded: &nodes)
            _ = try ArraySlice<UInt8>(derEncoded: &nodes)
            return modulus.drop { $0 == 0 }
        }
        return modulus.map { $0.count * 8 - ($0.first?.leadingZeroBitCount ?? 0) }
    }

    /// A point of a curve that keys can be of has to be on it.
    private static func fieldBitCount(_ name: ASN1ObjectIdentifier, _ key: ASN1BitString) -> Int? {
        if let curve = Curve(objectIdentifier: name), (try? ECKey(curve, anyPoint: Data(key.bytes))) == nil {
            return nil
        }
        return curves[name]
    }

    /// Named curves and the bits of their fields (RFC 5480, RFC 5639, SEC 2).
    private static let curves: [ASN1ObjectIdentifier: Int] = [
        [1, 2, 840, 10_045, 3, 1, 1]: 192, [1, 3, 132, 0, 33]: 224, [1, 2, 840, 10_045, 3, 1, 7]: 256,
        [1, 3, 132, 0, 34]: 384, [1, 3, 132, 0, 35]: 521, [1, 3, 132, 0, 10]: 256,
        [1, 3, 36, 3, 3, 2, 8, 1, 1, 7]: 256, [1, 3, 36, 3, 3, 2, 8, 1, 1, 11]: 384,
        [1, 3, 36, 3, 3, 2, 8, 1, 1, 13]: 512,
    ]
}

extension X509Certificate {
    /// nil for a key of a kind that `SecKey` does not have.
    package var key: AsymmetricKey? {
        switch publicKey.algorithm.algorithm {
        case .rsaEncryption: return try? AsymmetricKey(.rsa, isPrivate: false, publicKey.bytes)
        case .ecPublicKey:
            guard case .curve(let name?) = publicKey.kind, let curve = Curve(objectIdentifier: name),
                let key = try? ECKey(curve, point: publicKey.bytes)
            else { return nil }
            return .ec(key)
        default: return nil
        }
    }
}

extension ASN1ObjectIdentifier {
    static let rsaEncryption: Self = [1, 2, 840, 113_549, 1, 1, 1]
    static let rsaPSS: Self = [1, 2, 840, 113_549, 1, 1, 10]
    static let ecPublicKey: Self = [1, 2, 840, 10_045, 2, 1]
    static let ed25519: Self = [1, 3, 101, 112]
}
