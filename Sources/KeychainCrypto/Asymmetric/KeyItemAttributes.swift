internal import Crypto
package import FoundationEssentials
package import KeychainModel

/// Apple's number of the kind of a key (`kSecAttrKeyType`).
package enum KeyKind: Int64, Sendable, Hashable { case rsa = 42, ec = 73 }

/// The attributes that an item has because of the key in it.
package struct KeyItemAttributes {
    private let kind: KeyKind
    private let isPrivate: Bool
    private let bitCount: Int
    private let publicBytes: Data
    private let isInEngine: Bool
    private let label: AttributeValue

    /// - Parameter publicBytes: PKCS#1's `RSAPublicKey`, or 04 ‖ X ‖ Y.
    package init(_ kind: KeyKind, isPrivate: Bool, bitCount: Int, publicBytes: Data) {
        (self.kind, self.isPrivate, self.bitCount, self.publicBytes) = (kind, isPrivate, bitCount, publicBytes)
        isInEngine = false
        label = .data(Self.label(ofPublicBytes: publicBytes))
    }

    /// The attributes of a private key in the engine.
    ///
    /// - Parameter label: The one that its maker gave it, if any.
    package init(_ curve: Curve, pointOfKeyInEngine point: Data, label: AttributeValue? = nil) {
        (kind, isPrivate, bitCount, publicBytes) = (.ec, true, curve.bitCount, point)
        isInEngine = true
        self.label = label ?? .data(Self.label(ofPublicBytes: point))
    }

    /// The label that both halves and a certificate have in common (`kSecAttrApplicationLabel`, `kSecAttrPublicKeyHash`):
    /// SHA-1 of the public bytes. Nothing relies on it being hard to find another key with the same one.
    package static func label(ofPublicBytes bytes: Data) -> Data { Data(Insecure.SHA1.hash(data: bytes)) }

    /// The attributes by which the rows of a key are found.
    package var identifying: AttributeSet {
        [
            .keyClass: .number(isPrivate ? 1 : 0), .type: .number(kind.rawValue),
            .applicationLabel: label,
        ]
    }

    /// The attributes of an item for the key.
    package var all: AttributeSet {
        var attributes = identifying
        let bits = AttributeValue.number(Int64(bitCount))
        attributes.append(.keySizeInBits, bits)
        attributes.append(.effectiveKeySize, bits)
        for (attribute, isSet) in flags { attributes.append(attribute, .number(isSet ? 1 : 0)) }
        if isInEngine {
            attributes.append(.tokenID, .text(Item.engineToken))
            attributes.append(.tokenObjectID, .data(publicBytes))
        }
        return attributes
    }

    /// As Apple's keychain sets them, but that a public RSA key does not say that it decrypts (docs/compatibility.md).
    private var flags: [(Attribute, Bool)] {
        let isEC = kind == .ec
        return [
            (.isPermanent, true), (.isPrivate, true), (.isModifiable, true), (.isExtractable, !isInEngine),
            (.isSensitive, isInEngine), (.wasAlwaysSensitive, isInEngine), (.wasNeverExtractable, isInEngine),
            (.canSignRecover, false), (.canVerifyRecover, false), (.canEncrypt, !isPrivate),
            (.canDecrypt, isPrivate), (.canDerive, isPrivate && isEC), (.canSign, isPrivate),
            (.canVerify, !isPrivate), (.canWrap, !isPrivate), (.canUnwrap, isPrivate),
        ]
    }
}
