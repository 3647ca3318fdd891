internal import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

extension KeyItemAttributes {
    package init(_ key: AsymmetricKey) {
        self.init(key.kind, isPrivate: key.isPrivate, bitCount: key.bitCount, publicBytes: key.publicBytes)
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
