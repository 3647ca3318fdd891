internal import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The object under `kSecValueRef`, which stands for an item.
enum ItemReference {
    case key(SecKey)
    case certificate(SecCertificate)
    case identity(SecIdentity)

    /// - Throws: `.parameter` for any other object.
    init(_ value: AnyObject) throws(KeychainError) {
        switch value {
        case let key as SecKey: self = .key(key)
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let identity as SecIdentity: self = .identity(identity)
        default: throw SecItemValue.wrongType("kSecValueRef", value)
        }
    }

    var itemClass: ItemClass {
        switch self {
        case .key: .key
        case .certificate: .certificate
        case .identity: .identity
        }
    }

    /// The attributes by which its items are found.
    var identifying: AttributeSet {
        switch self {
        case .key(let key): KeyAttributes(key).identifying
        case .certificate(let certificate): CertificateAttributes(certificate.contents).identifying
        case .identity(let identity): CertificateAttributes(identity.certificate.contents).identifying
        }
    }

    /// The attributes of an item that is made for it, and its secret.
    ///
    /// - Throws: `.duplicateItem` for a key in the engine, which has its item.
    func content() throws(KeychainError) -> (attributes: AttributeSet, secret: SecretBytes?) {
        switch self {
        case .key(let key):
            if case .engine = key.half {
                throw KeychainError(.duplicateItem, message: "a key in the engine is stored already")
            }
            let facts = KeyAttributes(key)
            return (facts.all, facts.bytes.map { SecretBytes(copying: $0) })
        case .certificate(let certificate):
            return (CertificateAttributes(certificate.contents).all, SecretBytes(copying: certificate.der))
        case .identity:
            throw KeychainError(.internalFailure, message: "an identity has no item of its own")
        }
    }
}

extension SecItemDictionary {
    /// The object that `kSecReturnRef` asks for. A password has none.
    ///
    /// - Throws: `.decode` if the item's bytes do not suit its class.
    func reference(to item: Item) throws(KeychainError) -> NSObject? {
        switch item.itemClass {
        case .key: try SecKey(item, self)
        case .certificate: try SecCertificate(item.secret)
        case .identity: try identity(item)
        case .genericPassword, .internetPassword: nil
        }
    }

    private func identity(_ item: Item) throws(KeychainError) -> SecIdentity {
        let certificate = try SecCertificate(item.certificate)
        // No other key has that attribute, and a certificate does not.
        guard case .data(let point)? = item.attributes[.tokenObjectID] else {
            return SecIdentity(certificate, SecKey(try AsymmetricKey(item.attributes, item.secret)))
        }
        return SecIdentity(certificate, try engineKey(point))
    }

    /// Finds the key in the engine with this public half.
    ///
    /// - Throws: `.itemNotFound` if there is none.
    func engineKey(_ point: Data) throws(KeychainError) -> SecKey {
        do throws(KeychainError) {
            // Most have the label that their public half gives them, which an index leads to.
            return try engineKey([.applicationLabel: .data(KeyItemAttributes.label(ofPublicBytes: point))])
        } catch  where error.code == .itemNotFound {
            return try engineKey([.tokenObjectID: .data(point)])
        }
    }

    private func engineKey(_ attributes: AttributeSet) throws(KeychainError) -> SecKey {
        var query = ItemQuery(.key)
        query.attributes = attributes
        query.attributes[.keyClass] = .number(1)
        query.attributes[.tokenID] = .text(Item.engineToken)
        query.synchronizable = .any
        guard let item = try Connection.current.items(query, wantsSecrets: false, asking).first else {
            throw KeychainError(.itemNotFound, message: "the engine has no such key")
        }
        return try SecKey(item, self)
    }
}
