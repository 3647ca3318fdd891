package import Foundation
package import KeychainModel

/// The attributes that an item has because of the key in it.
package struct KeyItemAttributes {
    private let kind: AsymmetricKey.Kind
    private let isPrivate: Bool
    private let bitCount: Int
    private let publicBytes: Data
    private let isInEngine: Bool
    private let label: AttributeValue

    package init(_ key: AsymmetricKey) {
        (kind, isPrivate, bitCount, publicBytes) = (key.kind, key.isPrivate, key.bitCount, key.publicBytes)
        isInEngine = false
        label = .data(key.label)
    }

    /// Those of a private key in the engine.
    ///
    /// - Parameter label: The one that its maker gave it, if any.
    package init(_ curve: Curve, pointOfKeyInEngine point: Data, label: AttributeValue? = nil) {
        (kind, isPrivate, bitCount, publicBytes) = (.ec, true, curve.bitCount, point)
        isInEngine = true
        self.label = label ?? .data(AsymmetricKey.label(ofPublicBytes: point))
    }

    /// Those by which the rows of a key are found, whatever else they say.
    package var identifying: AttributeSet {
        [
            .keyClass: .number(isPrivate ? 1 : 0), .type: .number(kind.rawValue),
            .applicationLabel: label,
        ]
    }

    /// All that an item for the key has.
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

extension AsymmetricKey {
    /// Makes the key that attributes and bytes of an item are.
    ///
    /// - Throws: `.decode` if the bytes are no key of the kind that the attributes say.
    package init(_ attributes: AttributeSet, _ secret: SecretBytes?) throws(KeychainError) {
        guard case .number(let number)? = attributes[.type], let kind = Kind(rawValue: number),
            case .number(let keyClass) = attributes[.keyClass] ?? .number(0), 0...1 ~= keyClass,
            let key = try? AsymmetricKey(kind, isPrivate: keyClass == 1, secret?.copyData() ?? Data())
        else {
            throw KeychainError(
                .decode, message: "the item's bytes are no key of its type and class, and can only be read as they are")
        }
        self = key
    }
}
