// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// Tells whether a key has an algorithm for an operation.
///
/// - Parameters:
///   - key: Either half. Signing, decrypting and exchanging need the private half, the others the public one.
///   - operation: The operation.
///   - algorithm: The algorithm. One that is not known is not supported.
/// - Returns: Whether a call can succeed. It may still fail for its input. With an RSA key of few bits PKCS#1 signatures
///   with a long digest fail, as on Apple's systems, though this function says yes.
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    key.half.supports(operation, algorithm.algorithm)
}

/// Signs bytes with a private key.
///
/// A key in the engine is asked for a signature there, which blocks the thread for as long as a person takes to
/// authenticate.
///
/// - Parameters:
///   - key: A private half.
///   - algorithm: An algorithm whose name says whether it takes a message or a digest. An algorithm without a digest
///     signs the bytes as they are, and belongs into protocols that hash themselves.
///   - dataToSign: The message, or a digest of exactly the algorithm's length.
///   - error: The place receives an error with the code ``errSecParam`` for an algorithm that the key does not have and for
///     a digest of another length. A key in the engine fails as `SecItemCopyMatching(_:_:)` would, except that a person
///     who declines is `LAError.userCancel`, one who may not be asked `LAError.notInteractive`, and a context that was
///     invalidated `LAError.invalidContext`. The caller owns the error.
/// - Returns: The signature, or nil.
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, for: key) { () throws(KeychainError) in
        guard case .signature(let signature) = try key.requireSupport(.sign, algorithm) else { throw .otherUse }
        return NSData(data: try key.half.sign(Data(copying: dataToSign), signature))
    }
}

/// Checks a signature with a public key.
///
/// - Parameters:
///   - key: A public half.
///   - algorithm: The algorithm of the signature.
///   - signedData: The message, or a digest of exactly the algorithm's length.
///   - signature: The signature.
///   - error: The place receives an error with the code ``errSecVerifyFailed`` for a signature that is another one's or
///     none at all, and with ``errSecParam`` for an algorithm that the key does not have and a digest of another length.
///     The caller owns the error.
/// - Returns: Whether the signature is that of the key for these bytes.
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    reporting(to: error) { () throws(KeychainError) in
        guard case .signature(let method) = try key.requireSupport(.verify, algorithm),
            case .software(let half) = key.half
        else { throw .otherUse }
        try half.requireSignature(Data(copying: signature), of: Data(copying: signedData), method)
        return true
    } ?? false
}

/// Encrypts bytes to a public key.
///
/// - Parameters:
///   - key: A public half.
///   - algorithm: The algorithm. RSA alone takes at most a block less its padding; ECIES and the algorithms with AES-GCM
///     take any number of bytes. RSA without padding keeps nothing secret by itself.
///   - plaintext: The bytes.
///   - error: The place receives an error with the code ``errSecParam`` for an algorithm that the key does not have, and for
///     too many bytes. The caller owns the error.
/// - Returns: The ciphertext, or nil. Except with RSA without padding it is another one each time.
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(KeychainError) in
        guard case .encryption(let encryption) = try key.requireSupport(.encrypt, algorithm),
            case .software(let half) = key.half
        else { throw .otherUse }
        return NSData(data: try half.encrypt(Data(copying: plaintext), encryption))
    }
}

/// Decrypts bytes with a private key.
///
/// - Parameters:
///   - key: A private half. One in the engine blocks the thread for as long as a person takes.
///   - algorithm: The algorithm that the bytes were encrypted with.
///   - ciphertext: The bytes.
///   - error: The place receives an error with the code ``errSecParam`` and one and the same text for all flaws of the
///     bytes: a program that tells others more of it may give its key away. For a key in the engine see
///     ``SecKeyCreateSignature(_:_:_:_:)``. The caller owns the error.
/// - Returns: The plaintext, or nil. RSA without padding gives as many bytes as the modulus has, and a wrong padding of PKCS#1 pseudo-random
///   bytes (``SecKeyAlgorithm/rsaEncryptionPKCS1``).
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, for: key) { () throws(KeychainError) in
        guard case .encryption(let encryption) = try key.requireSupport(.decrypt, algorithm) else { throw .otherUse }
        return NSData(data: try key.half.decrypt(Data(copying: ciphertext), encryption))
    }
}

/// Agrees on a secret by Diffie-Hellman on a curve.
///
/// - Parameters:
///   - privateKey: This side's private half. One in the engine blocks the thread for as long as a person takes.
///   - algorithm: An algorithm with a key derivation, or one without, whose result is not evenly distributed.
///   - publicKey: The other side's public half, on the same curve.
///   - parameters: For the key derivation: under `requestedSize` the number of bytes, and under `sharedInfo` data that
///     both sides know, if any. Without a derivation they are ignored.
///   - error: The place receives an error with the code ``errSecDecode`` for a key on another curve, and with
///     ``errSecParam`` for a private half as `publicKey`, for an algorithm that the key does not have and for wrong
///     parameters. The caller owns the error.
/// - Returns: The secret: the bytes asked for, or the X coordinate of the common point.
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, for: privateKey) { () throws(KeychainError) in
        guard case .exchange(let exchange) = try privateKey.requireSupport(.keyExchange, algorithm) else {
            throw .otherUse
        }
        let derivation = try KeyDerivation(exchange, parameters)
        if case .engine = publicKey.half {
            throw KeychainError(.unimplemented, message: "the other side's key is a private one")
        }
        guard case .software(.ec(let peer)) = publicKey.half, !peer.isPrivate else {
            throw KeychainError(.parameter, message: "the other side's key is no public key on a curve")
        }
        let secret = try privateKey.half.sharedSecret(with: peer)
        return NSData(data: try derivation?.key(from: secret) ?? secret)
    }
}

/// The derivation that a key exchange applies to the common secret.
private struct KeyDerivation {
    let digest: DigestAlgorithm
    let count: Int
    let sharedInfo: Data

    /// - Returns: nil for an exchange without one.
    init?(_ exchange: KeyAlgorithm.Exchange, _ parameters: NSDictionary) throws(KeychainError) {
        guard case .x963(_, let digest) = exchange else { return nil }
        let entries = try SecItemValue.entries(of: parameters)
        func value(_ key: SecKeyKeyExchangeParameter) -> AnyObject? {
            entries.first { $0.name == key.rawValue as String }?.value
        }
        guard let number = value(.requestedSize) as? NSNumber, let count = SecItemValue.integer(number),
            0...Int64(X963KeyDerivation.mostBytes) ~= count
        else {
            throw KeychainError(
                .parameter, message: "the parameters say under requestedSize how many bytes are wanted, at most 1 MiB")
        }
        (self.digest, self.count) = (digest, Int(count))
        guard let info = value(.sharedInfo) else {
            sharedInfo = Data()
            return
        }
        guard let data = SecItemValue.data(info) else { throw SecItemValue.wrongType("sharedInfo", info) }
        sharedInfo = data
    }

    func key(from secret: Data) throws(KeychainError) -> Data {
        try X963KeyDerivation.derive(from: secret, sharedInfo: sharedInfo, count: count, digest)
    }
}

// MARK: - The algorithms of each key

extension StoredKey {
    func supports(_ operation: SecKeyOperationType, _ algorithm: KeyAlgorithm?) -> Bool {
        switch (algorithm, operation) {
        case (.signature(let signature), .sign): isPrivate && signature.isSupported(by: kind, bitCount: bitCount)
        case (.signature(let signature), .verify): !isPrivate && signature.isSupported(by: kind, bitCount: bitCount)
        case (.encryption(let encryption), .encrypt):
            !isPrivate && encryption.isSupported(by: kind, blockByteCount: blockByteCount)
        case (.encryption(let encryption), .decrypt):
            isPrivate && encryption.isSupported(by: kind, blockByteCount: blockByteCount)
        case (.exchange, .keyExchange): isPrivate && kind == .ec
        default: false
        }
    }
}

extension SecKey {
    /// - Throws: `.parameter` with a text that names both, if the key does not have the algorithm.
    fileprivate func requireSupport(
        _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
    ) throws(KeychainError) -> KeyAlgorithm {
        guard half.supports(operation, algorithm.algorithm), let known = algorithm.algorithm else {
            throw KeychainError(
                .parameter, message: "a \(half.title) cannot \(operation.verb) with \(algorithm.rawValue)")
        }
        return known
    }
}

extension KeychainError {
    fileprivate static var otherUse: KeychainError {
        KeychainError(.parameter, message: "the algorithm is for another use of keys")
    }
}

extension Data {
    /// Copies the bytes in one go. Foundation's own bridging costs 60 ns a byte on Linux.
    init(copying data: NSData) { self.init(bytes: data.bytes, count: data.length) }
}
