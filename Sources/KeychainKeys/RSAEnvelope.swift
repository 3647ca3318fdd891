internal import Crypto
package import FoundationEssentials
package import KeychainModel

/// Encryption of any number of bytes to an RSA key: a random AES key under OAEP, then AES-GCM's ciphertext and tag.
///
/// The nonce is zero, since each AES key is used once. The public key, as PKCS#1 writes it, is authenticated as well.
package enum RSAEnvelope {
    package static func encrypt(
        _ plaintext: Data, to key: RSAKey, _ digest: DigestAlgorithm
    ) throws(KeychainError) -> Data {
        let session = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * keyByteCount(of: key)))
            .withUnsafeBytes { Data($0) }
        return try key.encrypt(session, .oaep(digest)) + box(session, key).seal(plaintext)
    }

    /// - Throws: `.parameter` with one text for every cause.
    package static func decrypt(
        _ bytes: Data, with key: RSAKey, _ digest: DigestAlgorithm
    ) throws(KeychainError) -> Data {
        let (wrapped, rest) = (Data(bytes.prefix(key.blockByteCount)), Data(bytes.dropFirst(key.blockByteCount)))
        guard rest.count >= GCMBox.tagByteCount else { throw GCMBox.failure }
        let session = try key.decrypt(wrapped, .oaep(digest))
        guard session.count == keyByteCount(of: key) else { throw GCMBox.failure }
        return try box(session, key).open(rest)
    }

    private static func box(_ session: Data, _ key: RSAKey) -> GCMBox {
        GCMBox(key: session, nonce: Data(count: GCMBox.nonceByteCount), additional: key.publicBytes)
    }

    private static func keyByteCount(of key: RSAKey) -> Int { key.bitCount >= 4096 ? 32 : 16 }
}
