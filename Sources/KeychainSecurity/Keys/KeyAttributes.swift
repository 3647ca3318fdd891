internal import Foundation
internal import KeychainCrypto
internal import KeychainModel

/// What a key says of itself, in the form of attributes of an item.
struct KeyAttributes {
    private let key: SecKey

    init(_ key: SecKey) { self.key = key }

    /// Those by which the rows of a key are found, whatever else they say.
    var identifying: AttributeSet {
        [
            .keyClass: .number(key.half.isPrivate ? 1 : 0), .type: .number(key.half.kind.rawValue),
            .applicationLabel: .data(label),
        ]
    }

    /// All that an item for the key has.
    var all: AttributeSet {
        var attributes = identifying
        let bits = AttributeValue.number(Int64(key.half.bitCount))
        attributes.append(.keySizeInBits, bits)
        attributes.append(.effectiveKeySize, bits)
        for (attribute, isSet) in flags { attributes.append(attribute, .number(isSet ? 1 : 0)) }
        if case .engine(let engineKey) = key.half {
            attributes.append(.tokenID, .text(Item.engineToken))
            attributes.append(.tokenObjectID, .data(engineKey.point))
        }
        return attributes
    }

    /// The same as `SecKeyCopyAttributes` gives it: class and type are texts there, and numbers in an item.
    var dictionary: NSDictionary {
        let result = NSMutableDictionary()
        result["class"] = ItemClass.key.rawValue as NSString
        for (attribute, value) in all.entries {
            switch (attribute, value) {
            case (.keyClass, .number(let number)), (.type, .number(let number)):
                result[attribute.code] = String(number) as NSString
            default: result[attribute.code] = value.object
            }
        }
        if let bytes { result["v_Data"] = bytes as NSData }
        return result
    }

    /// The bytes that an item for the key has as its secret.
    var bytes: Data? {
        if case .software(let key) = key.half { key.externalRepresentation } else { nil }
    }

    private var label: Data { DigestAlgorithm.sha1.digest(of: key.publicBytes) }

    /// As Apple's keychain sets them, but that a public RSA key does not say that it decrypts (docs/compatibility.md).
    private var flags: [(Attribute, Bool)] {
        let (isPrivate, isEC) = (key.half.isPrivate, key.half.kind == .ec)
        let isInEngine = if case .engine = key.half { true } else { false }
        return [
            (.isPermanent, true), (.isPrivate, true), (.isModifiable, true), (.isExtractable, !isInEngine),
            (.isSensitive, isInEngine), (.wasAlwaysSensitive, isInEngine), (.wasNeverExtractable, isInEngine),
            (.canSignRecover, false), (.canVerifyRecover, false), (.canEncrypt, !isPrivate),
            (.canDecrypt, isPrivate), (.canDerive, isPrivate && isEC), (.canSign, isPrivate),
            (.canVerify, !isPrivate), (.canWrap, !isPrivate), (.canUnwrap, isPrivate),
        ]
    }
}

extension SecKey {
    /// Makes the key that an item holds.
    ///
    /// - Throws: `.decode` if its bytes are no key of the kind that its attributes say.
    convenience init(_ item: Item, _ dictionary: SecItemDictionary) throws(KeychainError) {
        if let key = EngineKey(item, dictionary) {
            self.init(key)
            return
        }
        self.init(try AsymmetricKey(item.attributes, item.secret))
    }
}

extension AsymmetricKey {
    /// Makes the key that attributes and bytes of an item are.
    ///
    /// - Throws: `.decode` if the bytes are no key of the kind that the attributes say.
    init(_ attributes: AttributeSet, _ secret: SecretBytes?) throws(KeychainError) {
        guard case .number(let number)? = attributes[.type], let kind = Kind(rawValue: number),
            case .number(let keyClass) = attributes[.keyClass] ?? .number(0), 0...1 ~= keyClass,
            let key = try? AsymmetricKey(kind, isPrivate: keyClass == 1, secret?.copyData() ?? Data())
        else {
            throw KeychainError(
                .decode, message: "the item's bytes are no key of its type and class: ask for kSecReturnData instead")
        }
        self = key
    }
}
