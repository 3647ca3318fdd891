// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The object is one half of a key pair: an RSA key, or a key on a NIST curve.
///
/// The private half of a pair is in one of two places:
///
/// - A *software key* is in this process. Its bytes can be exported, and everything in the process can read them.
/// - A *key in the engine* (`kSecAttrTokenIDSecureEnclave`) is made and used where the keychain is. The object holds a
///   reference to it. With a daemon and a passcode no program of the user gets at its bytes. Embedded, the engine is in this process,
///   so that nothing keeps the process from them.
///
/// The object cannot change, and any number of threads may use it at once.
public final class SecKey: NSObject, @unchecked Sendable {  // immutable
    let half: StoredKey
    /// PKCS#1's DER, or 04 ‖ X ‖ Y.
    let publicBytes: Data

    init(_ half: StoredKey) {
        self.half = half
        publicBytes = half.publicBytes
        super.init()
    }

    convenience init(_ key: AsymmetricKey) { self.init(.software(key)) }

    /// Two keys are equal if they are the same half of the same pair, wherever they are.
    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return half.isPrivate == other.half.isPrivate && half.kind == other.half.kind
            && publicBytes == other.publicBytes
    }

    /// Equal keys have equal hashes within one process.
    override public var hash: Int { publicBytes.hashValue }

    /// The text tells kind, size and half, for logs, and nothing of the key itself.
    override public var description: String { "<SecKey: \(half.title)>" }
}

extension StoredKey {
    var title: String {
        let kind = self.kind == .rsa ? "RSA" : "EC"
        let place = if case .engine = self { " in the engine" } else { "" }
        return "\(isPrivate ? "private" : "public") \(kind) key of \(bitCount) bits\(place)"
    }
}

// MARK: - Looking at keys

/// Returns the public half of a pair.
///
/// - Parameter key: Either half.
/// - Returns: The public half, which is never nil.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.half.isPrivate ? (try? key.half.publicHalf).map { SecKey($0) } : key
}

/// Writes a key as bytes.
///
/// - Parameters:
///   - key: Either half. A key in the engine has no bytes to give.
///   - error: The place receives an error of `NSOSStatusErrorDomain` with the code ``errSecUnimplemented`` for a key in
///     the engine. The caller owns the error.
/// - Returns: PKCS#1's `RSAPublicKey` or `RSAPrivateKey` in DER. A public half on a curve is 04 ‖ X ‖ Y of 65, 97 or
///   133 bytes; a private half has its number behind that, 97, 145 or 199 bytes in all.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard case .software(let key) = key.half else {
        KeyFailure(KeychainError(.unimplemented, message: "a key in the engine never leaves it")).report(to: error)
        return nil
    }
    return NSData(data: key.externalRepresentation)
}

/// Tells what a key is.
///
/// - Parameter key: Either half.
/// - Returns: A dictionary with `kSecAttrKeyClass` and `kSecAttrKeyType` as texts, the sizes and flags as numbers,
///   `kSecAttrApplicationLabel` (SHA-1 of the public bytes), and the bytes under `kSecValueData`, those of a private
///   half among them. A key in the engine has `kSecAttrTokenID` and no bytes. Label, tag and group belong to an item in
///   the keychain, and are not here.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    KeyAttributes(key).dictionary
}

/// Returns the number of bytes that an operation with the key takes or gives: those of the modulus, or of a coordinate.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    key.half.blockByteCount
}
