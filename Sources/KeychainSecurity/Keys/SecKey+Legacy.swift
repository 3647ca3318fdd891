// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The paddings of the older functions for keys.
public struct SecPadding: OptionSet, Sendable {
    /// The number of Apple's header.
    public let rawValue: UInt32
    /// Makes a padding of a number. One that is not known is refused by the functions.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS#1's padding. For a signature the bytes are not named as a digest.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP with SHA-1, for encryption.
    public static let OAEP = SecPadding(rawValue: 2)
    /// ECDSA whose two numbers follow each other, each of the field's size.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// A padding with MD2, which is refused for RSA keys.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// A padding with MD5, which is refused for RSA keys.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS#1's padding of a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS#1's padding of a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS#1's padding of a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS#1's padding of a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS#1's padding of a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

/// Signs a digest into a buffer.
///
/// - Parameters:
///   - key: A private half.
///   - padding: The padding says which digest an RSA key signs. A key on a curve signs the bytes as they are.
///   - dataToSign: The digest.
///   - dataToSignLen: Its length.
///   - sig: The buffer.
///   - sigLen: The size of the buffer, and after success the number of bytes written.
/// - Returns: `errSecSuccess`, `errSecParam` for a padding that the key does not have and a buffer that is too small, or the
///   code of the error of ``SecKeyCreateSignature(_:_:_:_:)``.
@available(*, deprecated, message: "use SecKeyCreateSignature")
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.signature(for: key, digestByteCount: dataToSignLen) else { return errSecParam }
    return write(to: sig, sigLen) { error in
        SecKeyCreateSignature(key, algorithm, NSData(bytes: dataToSign, length: dataToSignLen), &error)
    }
}

/// Checks the signature of a digest.
///
/// - Parameters:
///   - key: A public half.
///   - padding: The padding as for ``SecKeyRawSign(_:_:_:_:_:_:)``.
///   - signedData: The digest.
///   - signedDataLen: Its length.
///   - sig: The signature.
///   - sigLen: Its length.
/// - Returns: `errSecSuccess`, `errSSLCrypto` for a signature that is not right, or `errSecParam`.
@available(*, deprecated, message: "use SecKeyVerifySignature")
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>, _ sigLen: Int
) -> OSStatus {
    guard let algorithm = padding.signature(for: key, digestByteCount: signedDataLen) else { return errSecParam }
    var failure: Unmanaged<CFError>?
    let isRight = SecKeyVerifySignature(
        key, algorithm, NSData(bytes: signedData, length: signedDataLen), NSData(bytes: sig, length: sigLen), &failure)
    if isRight { return errSecSuccess }
    let code = status(of: failure)
    return code == errSecVerifyFailed ? errSSLCrypto : code
}

/// Encrypts bytes with RSA into a buffer.
///
/// - Parameters:
///   - key: A public RSA key.
///   - padding: No padding, `PKCS1` or `OAEP`.
///   - plainText: The bytes.
///   - plainTextLen: Their number.
///   - cipherText: The buffer.
///   - cipherTextLen: The size of the buffer, and after success the number of bytes written.
/// - Returns: `errSecSuccess`, or `errSecParam`.
@available(*, deprecated, message: "use SecKeyCreateEncryptedData")
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryption else { return errSecParam }
    return write(to: cipherText, cipherTextLen) { error in
        SecKeyCreateEncryptedData(key, algorithm, NSData(bytes: plainText, length: plainTextLen), &error)
    }
}

/// Decrypts bytes with RSA into a buffer.
///
/// - Parameters:
///   - key: A private RSA key.
///   - padding: The padding as for ``SecKeyEncrypt(_:_:_:_:_:_:)``. Without padding the zeros in front are left out.
///   - cipherText: The bytes.
///   - cipherTextLen: Their number.
///   - plainText: The buffer.
///   - plainTextLen: The size of the buffer, and after success the number of bytes written.
/// - Returns: `errSecSuccess`, or `errSecParam`.
@available(*, deprecated, message: "use SecKeyCreateDecryptedData")
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryption else { return errSecParam }
    return write(to: plainText, plainTextLen) { error in
        let bytes = NSData(bytes: cipherText, length: cipherTextLen)
        guard let plain = SecKeyCreateDecryptedData(key, algorithm, bytes, &error) else { return nil }
        return padding.isEmpty ? NSData(data: Data(Data(copying: plain).drop { $0 == 0 })) : plain
    }
}

/// The status of a failure, also of one that the newer functions report in another domain.
private func status(of failure: Unmanaged<CFError>?) -> OSStatus {
    guard let error = failure?.takeRetainedValue() else { return errSecInternal }
    switch (error.domain, error.code) {
    case (NSOSStatusErrorDomain, let status): return OSStatus(status)
    case (KeyFailure.tokenDomain, _): return errSecDecode
    case (_, -2): return errSecUserCanceled
    case (_, -1004): return errSecInteractionNotAllowed
    default: return errSecAuthFailed
    }
}

/// Copies a result to a buffer of the caller.
private func write(
    to buffer: UnsafeMutablePointer<UInt8>, _ count: UnsafeMutablePointer<Int>,
    _ body: (inout Unmanaged<CFError>?) -> CFData?
) -> OSStatus {
    var failure: Unmanaged<CFError>?
    guard let result = body(&failure) else {
        return status(of: failure)
    }
    guard result.length <= count.pointee else { return errSecParam }
    result.getBytes(buffer, length: result.length)
    count.pointee = result.length
    return errSecSuccess
}

extension SecPadding {
    fileprivate func signature(for key: SecKey, digestByteCount: Int) -> SecKeyAlgorithm? {
        key.half.kind == .rsa ? rsaSignature : curveSignature(digestByteCount)
    }

    private var rsaSignature: SecKeyAlgorithm? {
        switch self {
        case []: .rsaSignatureRaw
        case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
        case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
        case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
        case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
        case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
        case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    private func curveSignature(_ digestByteCount: Int) -> SecKeyAlgorithm? {
        switch self {
        case .sigRaw: .ecdsaSignatureDigestRFC4754
        case .PKCS1:
            switch digestByteCount {
            case 20: .ecdsaSignatureDigestX962SHA1
            case 28: .ecdsaSignatureDigestX962SHA224
            case 32: .ecdsaSignatureDigestX962SHA256
            case 48: .ecdsaSignatureDigestX962SHA384
            case 64: .ecdsaSignatureDigestX962SHA512
            default: .ecdsaSignatureDigestX962
            }
        default: .ecdsaSignatureDigestX962
        }
    }

    fileprivate var encryption: SecKeyAlgorithm? {
        switch self {
        case []: .rsaEncryptionRaw
        case .PKCS1: .rsaEncryptionPKCS1
        case .OAEP: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}
