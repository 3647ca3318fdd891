// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The object is a certificate together with the private key of its public key.
///
/// The private key may be in the engine: see ``SecKey``.
public final class SecIdentity: NSObject, @unchecked Sendable {  // immutable
    let certificate: SecCertificate
    let key: SecKey

    init(_ certificate: SecCertificate, _ key: SecKey) {
        (self.certificate, self.key) = (certificate, key)
        super.init()
    }

    /// Two identities are equal if their certificates and their keys are.
    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && key == other.key
    }

    /// Equal identities have equal hashes within one process.
    override public var hash: Int { certificate.hash }

    /// The text names the certificate's subject, for logs.
    override public var description: String { "<SecIdentity: \(certificate)>" }
}

/// Makes an identity of a certificate and its private key. Nothing is stored.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - certificate: The certificate.
///   - privateKey: The private key of the certificate's public key.
/// - Returns: The identity, or nil if the key is another one, or no private key.
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard privateKey.half.isPrivate, let key = SecCertificateCopyKey(certificate),
        let publicHalf = SecKeyCopyPublicKey(privateKey), key == publicHalf
    else { return nil }
    return SecIdentity(certificate, privateKey)
}

/// Finds the private key of a certificate in the keychain.
///
/// - Parameters:
///   - keychainOrArray: The value is ignored: there is one keychain.
///   - certificateRef: The certificate, which need not be in the keychain.
///   - identityRef: The place receives the identity. It stays untouched after a failure.
/// - Returns: `errSecSuccess`, ``errSecItemNotFound`` if the keychain does not have the key, or a status of
///   ``SecItemCopyMatching(_:_:)``.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    let query: [String: Any] = [
        "class": ItemClass.key.rawValue, Attribute.keyClass.code: 1, "r_Ref": true,
        Attribute.applicationLabel.code: certificateRef.contents.publicKeyHash,
        Attribute.synchronizable.code: kSecAttrSynchronizableAny,
    ]
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    guard status == errSecSuccess else { return status }
    guard let key = result as? SecKey, let identity = SecIdentityCreate(nil, certificateRef, key) else {
        return errSecItemNotFound
    }
    identityRef.pointee = identity
    return errSecSuccess
}

/// Gives the certificate of an identity.
///
/// - Parameters:
///   - identity: The identity.
///   - certificateRef: The place receives the certificate.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identity.certificate
    return errSecSuccess
}

/// Gives the private key of an identity.
///
/// - Parameters:
///   - identity: The identity.
///   - privateKeyRef: The place receives the key.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identity: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identity.key
    return errSecSuccess
}
