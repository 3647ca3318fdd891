// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// Makes a new pair of keys, and stores its halves if the parameters say so.
///
/// RSA keys of 2,048 bits take about 0.2 seconds, larger ones several times that. The private half of a key in the engine is
/// made there.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` and `kSecAttrKeySizeInBits`, and for each half under `kSecPrivateKeyAttrs` and
///     `kSecPublicKeyAttrs` a dictionary of attributes of its item. All other entries count for both halves, unless the
///     half's dictionary has its own. A half is stored if its `kSecAttrIsPermanent` is true.
///
///     With `kSecAttrTokenID` set to `kSecAttrTokenIDSecureEnclave` the key is made in the engine, with 256 bits on a curve,
///     and its private half is always stored. An access control for it needs
///     ``SecAccessControlCreateFlags/privateKeyUsage``, and is asked at each use.
///   - error: The place receives an error with the code ``errSecParam`` for a type or size that keys cannot have here, with
///     ``errSecUnimplemented`` for another token, and otherwise as `SecItemAdd(_:_:)` would fail. The caller owns the
///     error. If the second half cannot be stored, the first one stays.
/// - Returns: The private half, or nil.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(KeychainError) in try KeyParameters(parameters).makeKey() }
}

/// Makes a new pair of keys, as ``SecKeyCreateRandomKey(_:_:)`` does.
///
/// - Parameters:
///   - parameters: See ``SecKeyCreateRandomKey(_:_:)``.
///   - publicKey: The place for the public half, or nil.
///   - privateKey: The place for the private half, or nil.
/// - Returns: `errSecSuccess`, or the code of the error that ``SecKeyCreateRandomKey(_:_:)`` reports.
@available(*, deprecated, message: "use SecKeyCreateRandomKey")
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    var failure: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(parameters, &failure) else {
        return failure.map { OSStatus($0.takeRetainedValue().code) } ?? errSecInternal
    }
    publicKey?.pointee = SecKeyCopyPublicKey(key)
    privateKey?.pointee = key
    return errSecSuccess
}

/// Reads a key from its bytes. Nothing is stored.
///
/// - Parameters:
///   - keyData: The bytes as ``SecKeyCopyExternalRepresentation(_:_:)`` writes them. A public RSA key may also be in a
///     certificate's form (`SubjectPublicKeyInfo`). PEM, PKCS#8 and compressed points are refused, as on Apple's systems.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`, each as a text or a number. Other entries are ignored. With
///     `kSecAttrTokenID` the data are ignored, and the key in the engine is looked for whose attribute `toid` is given.
///   - error: The place receives an error with the code ``errSecParam`` for bytes that are no such key, and with
///     ``errSecUnimplemented`` for a symmetric key. The caller owns the error.
/// - Returns: The key, or nil.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(KeychainError) in
        let entries = try SecItemValue.entries(of: attributes)
        if let token = entries.first(where: { $0.name == Attribute.tokenID.code })?.value {
            return try engineKey(token, entries)
        }
        let kind = try keyKind(entries)
        let keyClass = try KeyParameters.number(of: .keyClass, in: entries)
        switch keyClass {
        case 0, 1: break
        case 2: throw KeychainError(.unimplemented, message: "symmetric keys are no SecKey here")
        default: throw KeychainError(.parameter, message: "the attributes say no class of key (kSecAttrKeyClass)")
        }
        return SecKey(try AsymmetricKey(kind, isPrivate: keyClass == 1, Data(copying: keyData)))
    }
}

/// - Throws: `.parameter` without a type, and for one that is not known here.
private func keyKind(_ entries: [(name: String, value: AnyObject)]) throws(KeychainError) -> AsymmetricKey.Kind {
    guard let number = try KeyParameters.number(of: .type, in: entries) else {
        throw KeychainError(.parameter, message: "the parameters say no type of key (kSecAttrKeyType)")
    }
    guard let kind = AsymmetricKey.Kind(rawValue: number) else {
        throw KeychainError(.parameter, message: "there are no keys of type \(number) here")
    }
    return kind
}

/// - Throws: `.itemNotFound` if the engine has no such key.
private func engineKey(
    _ token: AnyObject, _ entries: [(name: String, value: AnyObject)]
) throws(KeychainError) -> SecKey {
    try KeyParameters.requireEngine(token)
    guard let value = entries.first(where: { $0.name == Attribute.tokenObjectID.code })?.value,
        let point = SecItemValue.data(value)
    else {
        throw KeychainError(
            .parameter, message: "the attributes do not say which key of the engine is meant (toid)")
    }
    let query = NSMutableDictionary(dictionary: ["class": ItemClass.key.rawValue as NSString])
    for (name, value) in entries where name.hasPrefix("u_") { query[name] = value }
    return try SecItemDictionary(query).engineKey(point)
}

/// The parameters of a new pair.
private struct KeyParameters {
    private let kind: AsymmetricKey.Kind
    private let bitCount: Int
    private let isInEngine: Bool
    private let privateAttributes: [String: AnyObject]
    private let publicAttributes: [String: AnyObject]

    init(_ dictionary: NSDictionary) throws(KeychainError) {
        let entries = try SecItemValue.entries(of: dictionary)
        kind = try keyKind(entries)
        guard let bits = try Self.number(of: .keySizeInBits, in: entries), let bitCount = Int(exactly: bits) else {
            throw KeychainError(.parameter, message: "the parameters say no size (kSecAttrKeySizeInBits)")
        }
        self.bitCount = bitCount
        let halves = ["private", "public"]
        let common = entries.filter {
            !halves.contains($0.name) && $0.name != Attribute.type.code && $0.name != Attribute.keySizeInBits.code
        }
        func attributes(_ half: String) throws(KeychainError) -> [String: AnyObject] {
            var merged = Dictionary(common.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            guard let value = entries.first(where: { $0.name == half })?.value else { return merged }
            guard let own = value as? NSDictionary else {
                throw SecItemValue.wrongType("the attributes of the \(half) key", value)
            }
            for (name, value) in try SecItemValue.entries(of: own) { merged[name] = value }
            return merged
        }
        var (privateHalf, publicHalf) = (try attributes("private"), try attributes("public"))
        let token = privateHalf[Attribute.tokenID.code]
        if let token { try Self.requireEngine(token) }
        isInEngine = token != nil
        // The public half is an ordinary key.
        for attribute in [Attribute.tokenID, .accessControl] where isInEngine { publicHalf[attribute.code] = nil }
        privateHalf[Attribute.tokenID.code] = nil
        if isInEngine { try Self.dropSameProtection(&privateHalf) }
        // The key itself is returned, in spite of return keys among the attributes.
        privateAttributes = privateHalf.filter { !$0.key.hasPrefix("r_") }
        publicAttributes = publicHalf.filter { !$0.key.hasPrefix("r_") }
    }

    /// As Apple's client does, which leaves the access control to the token: beside one, an accessibility that says the same
    /// is no second one.
    private static func dropSameProtection(_ attributes: inout [String: AnyObject]) throws(KeychainError) {
        guard let control = attributes[Attribute.accessControl.code], let own = attributes[Attribute.accessible.code],
            try SecItemDictionary.accessControl(control).protection == SecItemDictionary.protection(own)
        else { return }
        attributes[Attribute.accessible.code] = nil
    }

    /// - Throws: `.unimplemented` for any other token.
    static func requireEngine(_ token: AnyObject) throws(KeychainError) {
        guard SecItemValue.text(token) == Item.engineToken else {
            throw KeychainError(.unimplemented, message: "the only token is kSecAttrTokenIDSecureEnclave")
        }
    }

    /// Reads a number, or a decimal number in a text.
    static func number(
        of attribute: Attribute, in entries: [(name: String, value: AnyObject)]
    ) throws(KeychainError) -> Int64? {
        guard let value = entries.first(where: { $0.name == attribute.code })?.value else { return nil }
        if let number = value as? NSNumber { return SecItemValue.integer(number) }
        if let text = SecItemValue.text(value) { return Int64(text) }
        throw SecItemValue.wrongType("the attribute \(attribute.name)", value)
    }

    func makeKey() throws(KeychainError) -> SecKey {
        if isInEngine { return try makeKeyInEngine() }
        let key = SecKey(try AsymmetricKey(generating: kind, bitCount: bitCount))
        if Self.isPermanent(publicAttributes) ?? false { try storePublicHalf(of: key) }
        if Self.isPermanent(privateAttributes) ?? false { try store(key, privateAttributes) }
        return key
    }

    private func makeKeyInEngine() throws(KeychainError) -> SecKey {
        guard kind == .ec, bitCount == 256 else {
            throw KeychainError(.parameter, message: "a key in the engine has 256 bits and is on a curve")
        }
        guard Self.isPermanent(privateAttributes) ?? true else {
            throw KeychainError(
                .unimplemented, message: "a key in the engine is always stored there (kSecAttrIsPermanent)")
        }
        let dictionary = try itemDictionary(privateAttributes)
        let key = try SecKey(try dictionary.ask(.makeKey(dictionary.addRequest())), dictionary)
        if Self.isPermanent(publicAttributes) ?? false { try storePublicHalf(of: key) }
        return key
    }

    private func storePublicHalf(of key: SecKey) throws(KeychainError) {
        guard let half = SecKeyCopyPublicKey(key) else { return }
        try store(half, publicAttributes)
    }

    private func store(_ key: SecKey, _ attributes: [String: AnyObject]) throws(KeychainError) {
        var attributes = attributes
        attributes["v_Ref"] = key
        let dictionary = try itemDictionary(attributes)
        _ = try dictionary.ask(.add(dictionary.addRequest()))
    }

    private func itemDictionary(_ attributes: [String: AnyObject]) throws(KeychainError) -> SecItemDictionary {
        var attributes = attributes
        attributes["class"] = ItemClass.key.rawValue as NSString
        // Text is no reason to store a key, and none to refuse it either.
        if Self.isPermanent(attributes) == nil { attributes[Attribute.isPermanent.code] = nil }
        return try SecItemDictionary(attributes as NSDictionary)
    }

    /// - Returns: nil if it is not said, or by something that is no number.
    private static func isPermanent(_ attributes: [String: AnyObject]) -> Bool? {
        (attributes[Attribute.isPermanent.code] as? NSNumber)?.boolValue
    }
}
