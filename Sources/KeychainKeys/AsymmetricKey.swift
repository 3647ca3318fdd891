package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// Half of a key pair, of either kind.
package enum AsymmetricKey: Sendable {
    case rsa(RSAKey)
    case ec(ECKey)

    package typealias Kind = KeyKind

    /// Makes a new pair, and returns its private half.
    ///
    /// - Throws: `.parameter` for a size that keys of this kind cannot have here.
    package init(generating kind: Kind, bitCount: Int) throws(KeychainError) {
        switch kind {
        case .rsa: self = .rsa(try RSAKey(generating: bitCount))
        case .ec:
            guard let curve = Curve(rawValue: bitCount) else {
                throw KeychainError(
                    .parameter, message: "a key on a curve has 256, 384 or 521 bits, and not \(bitCount)")
            }
            self = .ec(try ECKey(generating: curve))
        }
    }

    /// Reads what ``externalRepresentation`` writes. The length of a key on a curve tells the curve.
    ///
    /// - Throws: `.parameter` for anything else.
    package init(_ kind: Kind, isPrivate: Bool, _ bytes: Data) throws(KeychainError) {
        switch kind {
        case .rsa: self = .rsa(try isPrivate ? RSAKey(privateBytes: bytes) : RSAKey(publicBytes: bytes))
        case .ec:
            let curve = Curve.allCases.first {
                bytes.count == (isPrivate ? $0.privateByteCount : $0.pointByteCount)
            }
            guard let curve else {
                throw KeychainError(
                    .parameter,
                    message: "no \(isPrivate ? "private" : "public") key on a curve has \(bytes.count) bytes")
            }
            self = .ec(
                try isPrivate ? ECKey(curve, privateBytes: SecretBytes(copying: bytes)) : ECKey(curve, point: bytes))
        }
    }

    package var kind: Kind {
        switch self {
        case .rsa: .rsa
        case .ec: .ec
        }
    }

    package var isPrivate: Bool {
        switch self {
        case .rsa(let key): key.isPrivate
        case .ec(let key): key.isPrivate
        }
    }

    package var bitCount: Int {
        switch self {
        case .rsa(let key): key.bitCount
        case .ec(let key): key.curve.bitCount
        }
    }

    /// The bytes of the modulus, or of a coordinate.
    package var blockByteCount: Int {
        switch self {
        case .rsa(let key): key.blockByteCount
        case .ec(let key): key.curve.fieldByteCount
        }
    }

    package var publicHalf: AsymmetricKey {
        get throws(KeychainError) {
            switch self {
            case .rsa(let key): .rsa(try key.publicHalf)
            case .ec(let key): .ec(try key.publicHalf)
            }
        }
    }

    /// The public half: PKCS#1's `RSAPublicKey`, or 04 ‖ X ‖ Y.
    package var publicBytes: Data {
        switch self {
        case .rsa(let key): key.publicBytes
        case .ec(let key): key.point
        }
    }

    /// PKCS#1's DER, or X9.63's 04 ‖ X ‖ Y, which a private half follows with its number.
    package var externalRepresentation: Data {
        switch self {
        case .rsa(let key): key.privateBytes ?? key.publicBytes
        case .ec(let key): key.privateBytes?.copyData() ?? key.point
        }
    }

    package var label: Data { KeyItemAttributes.label(ofPublicBytes: publicBytes) }
}
