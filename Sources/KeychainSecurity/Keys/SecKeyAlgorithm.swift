public import Foundation
internal import KeychainKeys

/// An algorithm of a key: what ``SecKeyCreateSignature(_:_:_:_:)`` and its relatives are to compute.
///
/// The names that begin with `rsa` are for RSA keys, the others for keys on a curve. All of Apple's are here, with Apple's
/// texts as raw values.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, @unchecked Sendable {  // the text never changes
    /// The text of the algorithm, which begins with `algid:`.
    public let rawValue: CFString

    /// Takes any text. One that is no algorithm is supported by no key.
    public init(rawValue: CFString) { self.rawValue = rawValue.copy() as? NSString ?? rawValue }

    fileprivate init(_ algorithm: KeyAlgorithm) { self.init(rawValue: algorithm.name as NSString) }

    fileprivate init(former name: String) { self.init(rawValue: name as NSString) }

    /// nil for a text that is no algorithm.
    var algorithm: KeyAlgorithm? { KeyAlgorithm.byName[rawValue as String] }
}

/// The uses of a key.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Signing with a private key.
    case sign = 0
    /// Checking a signature with a public key.
    case verify = 1
    /// Encrypting to a public key.
    case encrypt = 2
    /// Decrypting with a private key.
    case decrypt = 3
    /// Agreeing on a secret, with this side's private key.
    case keyExchange = 4

    var verb: String {
        switch self {
        case .sign: "sign"
        case .verify: "verify signatures"
        case .encrypt: "encrypt"
        case .decrypt: "decrypt"
        case .keyExchange: "exchange keys"
        }
    }
}

/// A parameter of ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)``.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, @unchecked Sendable {  // the text never changes
    /// The key of the parameter in the dictionary.
    public let rawValue: CFString

    /// Takes any text. Parameters that are not known are ignored.
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// The number of bytes that are to be derived.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// Data that both sides know, and that become part of the derivation.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

// MARK: - RSA signatures

extension SecKeyAlgorithm {
    /// The bytes to the power of the private exponent. Only protocols that pad by themselves want it.
    public static let rsaSignatureRaw = SecKeyAlgorithm(.signature(.rsaRaw))
    /// PKCS#1 v1.5 of up to 11 bytes less than the modulus has, which are not named as a digest.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(.signature(.rsaPKCS1Raw))
    /// PKCS#1 v1.5 of a SHA-1 digest.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(.signature(.rsaPKCS1(.digest, .sha1)))
    /// PKCS#1 v1.5 of a SHA-224 digest.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(.signature(.rsaPKCS1(.digest, .sha224)))
    /// PKCS#1 v1.5 of a SHA-256 digest.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(.signature(.rsaPKCS1(.digest, .sha256)))
    /// PKCS#1 v1.5 of a SHA-384 digest.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(.signature(.rsaPKCS1(.digest, .sha384)))
    /// PKCS#1 v1.5 of a SHA-512 digest.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(.signature(.rsaPKCS1(.digest, .sha512)))
    /// PKCS#1 v1.5 of a message, which is hashed with SHA-1.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(.signature(.rsaPKCS1(.message, .sha1)))
    /// PKCS#1 v1.5 of a message, which is hashed with SHA-224.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(.signature(.rsaPKCS1(.message, .sha224)))
    /// PKCS#1 v1.5 of a message, which is hashed with SHA-256.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(.signature(.rsaPKCS1(.message, .sha256)))
    /// PKCS#1 v1.5 of a message, which is hashed with SHA-384.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(.signature(.rsaPKCS1(.message, .sha384)))
    /// PKCS#1 v1.5 of a message, which is hashed with SHA-512.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(.signature(.rsaPKCS1(.message, .sha512)))
    /// PSS of a SHA-1 digest, with a salt as long as the digest.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(.signature(.rsaPSS(.digest, .sha1)))
    /// PSS of a SHA-224 digest, with a salt as long as the digest. The salt has 28 bytes, though Apple's name says 24.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(.signature(.rsaPSS(.digest, .sha224)))
    /// PSS of a SHA-256 digest, with a salt as long as the digest.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(.signature(.rsaPSS(.digest, .sha256)))
    /// PSS of a SHA-384 digest, with a salt as long as the digest.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(.signature(.rsaPSS(.digest, .sha384)))
    /// PSS of a SHA-512 digest, with a salt as long as the digest.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(.signature(.rsaPSS(.digest, .sha512)))
    /// PSS of a message, which is hashed with SHA-1, with a salt as long as the digest.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(.signature(.rsaPSS(.message, .sha1)))
    /// PSS of a message, which is hashed with SHA-224, with a salt as long as the digest. The salt has 28 bytes, though Apple's name says 24.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(.signature(.rsaPSS(.message, .sha224)))
    /// PSS of a message, which is hashed with SHA-256, with a salt as long as the digest.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(.signature(.rsaPSS(.message, .sha256)))
    /// PSS of a message, which is hashed with SHA-384, with a salt as long as the digest.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(.signature(.rsaPSS(.message, .sha384)))
    /// PSS of a message, which is hashed with SHA-512, with a salt as long as the digest.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(.signature(.rsaPSS(.message, .sha512)))
}

// MARK: - Signatures on curves

extension SecKeyAlgorithm {
    /// ECDSA of the bytes themselves. The two numbers follow each other, each of the field's size.
    @available(*, deprecated, message: "use ecdsaSignatureDigestRFC4754")
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(former: KeyAlgorithm.formerRFC4754)
    /// ECDSA of the bytes themselves. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(.signature(.ecdsaRaw(.rfc4754)))
    /// ECDSA of a SHA-1 digest. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(.signature(.ecdsa(.rfc4754, .digest, .sha1)))
    /// ECDSA of a SHA-224 digest. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .digest, .sha224)))
    /// ECDSA of a SHA-256 digest. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .digest, .sha256)))
    /// ECDSA of a SHA-384 digest. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .digest, .sha384)))
    /// ECDSA of a SHA-512 digest. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .digest, .sha512)))
    /// ECDSA of a message, which is hashed with SHA-1. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(.signature(.ecdsa(.rfc4754, .message, .sha1)))
    /// ECDSA of a message, which is hashed with SHA-224. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .message, .sha224)))
    /// ECDSA of a message, which is hashed with SHA-256. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .message, .sha256)))
    /// ECDSA of a message, which is hashed with SHA-384. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .message, .sha384)))
    /// ECDSA of a message, which is hashed with SHA-512. The two numbers follow each other, each of the field's size.
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
        .signature(.ecdsa(.rfc4754, .message, .sha512)))
    /// ECDSA of the bytes themselves. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(.signature(.ecdsaRaw(.x962)))
    /// ECDSA of a SHA-1 digest. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .digest, .sha1)))
    /// ECDSA of a SHA-224 digest. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .digest, .sha224)))
    /// ECDSA of a SHA-256 digest. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .digest, .sha256)))
    /// ECDSA of a SHA-384 digest. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .digest, .sha384)))
    /// ECDSA of a SHA-512 digest. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .digest, .sha512)))
    /// ECDSA of a message, which is hashed with SHA-1. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .message, .sha1)))
    /// ECDSA of a message, which is hashed with SHA-224. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .message, .sha224)))
    /// ECDSA of a message, which is hashed with SHA-256. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .message, .sha256)))
    /// ECDSA of a message, which is hashed with SHA-384. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .message, .sha384)))
    /// ECDSA of a message, which is hashed with SHA-512. The two numbers are a SEQUENCE in DER.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(.signature(.ecdsa(.x962, .message, .sha512)))
}

// MARK: - Encryption with RSA

extension SecKeyAlgorithm {
    /// The bytes to the power of the public exponent, which hides nothing by itself.
    public static let rsaEncryptionRaw = SecKeyAlgorithm(.encryption(.rsaRaw))
    /// PKCS#1 v1.5, of up to 11 bytes less than the modulus has. OAEP is the better choice.
    ///
    /// A block with a wrong padding decrypts to pseudo-random bytes, always the same for one key and block, without any error: a peer
    /// that learned which paddings are right could decrypt other blocks. Whether a message is genuine has to show in the message itself.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(.encryption(.rsaPKCS1))
    /// OAEP with SHA-1, also as the mask, and an empty label.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(.encryption(.rsaOAEP(.sha1)))
    /// OAEP with SHA-224, also as the mask, and an empty label.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(.encryption(.rsaOAEP(.sha224)))
    /// OAEP with SHA-256, also as the mask, and an empty label.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(.encryption(.rsaOAEP(.sha256)))
    /// OAEP with SHA-384, also as the mask, and an empty label.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(.encryption(.rsaOAEP(.sha384)))
    /// OAEP with SHA-512, also as the mask, and an empty label.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(.encryption(.rsaOAEP(.sha512)))
    /// A random AES key under OAEP with SHA-1, and any number of bytes under AES-GCM.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(.encryption(.rsaOAEPWithGCM(.sha1)))
    /// A random AES key under OAEP with SHA-224, and any number of bytes under AES-GCM.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(.encryption(.rsaOAEPWithGCM(.sha224)))
    /// A random AES key under OAEP with SHA-256, and any number of bytes under AES-GCM.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(.encryption(.rsaOAEPWithGCM(.sha256)))
    /// A random AES key under OAEP with SHA-384, and any number of bytes under AES-GCM.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(.encryption(.rsaOAEPWithGCM(.sha384)))
    /// A random AES key under OAEP with SHA-512, and any number of bytes under AES-GCM.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(.encryption(.rsaOAEPWithGCM(.sha512)))
}

// MARK: - Encryption on curves (ECIES)

extension SecKeyAlgorithm {
    /// ECIES with SHA-1, whose nonce is zero.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha1, isCofactor: false, derivesNonce: false))))
    /// ECIES with SHA-224, whose nonce is zero.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha224, isCofactor: false, derivesNonce: false))))
    /// ECIES with SHA-256, whose nonce is zero.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha256, isCofactor: false, derivesNonce: false))))
    /// ECIES with SHA-384, whose nonce is zero.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha384, isCofactor: false, derivesNonce: false))))
    /// ECIES with SHA-512, whose nonce is zero.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha512, isCofactor: false, derivesNonce: false))))
    /// ECIES with SHA-224, whose nonce is derived with the key.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha224, isCofactor: false, derivesNonce: true))))
    /// ECIES with SHA-256, whose nonce is derived with the key.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha256, isCofactor: false, derivesNonce: true))))
    /// ECIES with SHA-384, whose nonce is derived with the key.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha384, isCofactor: false, derivesNonce: true))))
    /// ECIES with SHA-512, whose nonce is derived with the key.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha512, isCofactor: false, derivesNonce: true))))
    /// ECIES with SHA-1, whose nonce is zero. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha1, isCofactor: true, derivesNonce: false))))
    /// ECIES with SHA-224, whose nonce is zero. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha224, isCofactor: true, derivesNonce: false))))
    /// ECIES with SHA-256, whose nonce is zero. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha256, isCofactor: true, derivesNonce: false))))
    /// ECIES with SHA-384, whose nonce is zero. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha384, isCofactor: true, derivesNonce: false))))
    /// ECIES with SHA-512, whose nonce is zero. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha512, isCofactor: true, derivesNonce: false))))
    /// ECIES with SHA-224, whose nonce is derived with the key. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha224, isCofactor: true, derivesNonce: true))))
    /// ECIES with SHA-256, whose nonce is derived with the key. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha256, isCofactor: true, derivesNonce: true))))
    /// ECIES with SHA-384, whose nonce is derived with the key. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha384, isCofactor: true, derivesNonce: true))))
    /// ECIES with SHA-512, whose nonce is derived with the key. On these curves the same as the standard one.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        .encryption(.ecies(ECIES(digest: .sha512, isCofactor: true, derivesNonce: true))))
}

// MARK: - Key exchange

extension SecKeyAlgorithm {
    /// ECDH, whose result is the X coordinate of the common point.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(.exchange(.plain(isCofactor: false)))
    /// ECDH, and X9.63's key derivation with SHA-1.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(.exchange(.x963(isCofactor: false, .sha1)))
    /// ECDH, and X9.63's key derivation with SHA-224.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(.exchange(.x963(isCofactor: false, .sha224)))
    /// ECDH, and X9.63's key derivation with SHA-256.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(.exchange(.x963(isCofactor: false, .sha256)))
    /// ECDH, and X9.63's key derivation with SHA-384.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(.exchange(.x963(isCofactor: false, .sha384)))
    /// ECDH, and X9.63's key derivation with SHA-512.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(.exchange(.x963(isCofactor: false, .sha512)))
    /// ECDH, whose result is the X coordinate of the common point. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(.exchange(.plain(isCofactor: true)))
    /// ECDH, and X9.63's key derivation with SHA-1. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(.exchange(.x963(isCofactor: true, .sha1)))
    /// ECDH, and X9.63's key derivation with SHA-224. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(.exchange(.x963(isCofactor: true, .sha224)))
    /// ECDH, and X9.63's key derivation with SHA-256. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(.exchange(.x963(isCofactor: true, .sha256)))
    /// ECDH, and X9.63's key derivation with SHA-384. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(.exchange(.x963(isCofactor: true, .sha384)))
    /// ECDH, and X9.63's key derivation with SHA-512. On these curves the same as the standard one.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(.exchange(.x963(isCofactor: true, .sha512)))
}
