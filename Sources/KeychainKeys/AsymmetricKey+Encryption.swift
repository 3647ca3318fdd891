package import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel

extension KeyAlgorithm.Encryption {
    /// Whether keys of a kind and size have this algorithm.
    package func isSupported(by kind: AsymmetricKey.Kind, blockByteCount: Int) -> Bool {
        switch self {
        case .rsaRaw, .rsaPKCS1: kind == .rsa
        // Two digests and two more bytes (RFC 8017, section 7.1.1), and the AES key within.
        case .rsaOAEP(let digest): kind == .rsa && blockByteCount >= 2 * digest.byteCount + 2
        case .rsaOAEPWithGCM(let digest):
            kind == .rsa && blockByteCount >= 2 * digest.byteCount + 2 + (blockByteCount >= 512 ? 32 : 16)
        case .ecies: kind == .ec
        }
    }
}

extension AsymmetricKey {
    /// Encrypts to the public half.
    ///
    /// - Throws: `.parameter` for more bytes than the algorithm takes.
    package func encrypt(_ plaintext: Data, _ algorithm: KeyAlgorithm.Encryption) throws(KeychainError) -> Data {
        switch (algorithm, self) {
        case (.rsaRaw, .rsa(let key)): try key.encrypt(try key.paddedToBlock(plaintext), .none)
        case (.rsaPKCS1, .rsa(let key)): try key.encrypt(plaintext, .pkcs1)
        case (.rsaOAEP(let digest), .rsa(let key)): try key.encrypt(plaintext, .oaep(digest))
        case (.rsaOAEPWithGCM(let digest), .rsa(let key)): try RSAEnvelope.encrypt(plaintext, to: key, digest)
        case (.ecies(let scheme), .ec(let key)): try scheme.encrypt(plaintext, to: key)
        default: throw .otherKind
        }
    }
}

extension RSAKey {
    /// - Throws: `.parameter` with one text for every cause.
    package func decrypt(_ bytes: Data, _ algorithm: KeyAlgorithm.Encryption) throws(KeychainError) -> Data {
        switch algorithm {
        case .rsaRaw: try decrypt(bytes, Padding.none)
        case .rsaPKCS1: try decrypt(bytes, Padding.pkcs1)
        case .rsaOAEP(let digest): try decrypt(bytes, Padding.oaep(digest))
        case .rsaOAEPWithGCM(let digest): try RSAEnvelope.decrypt(bytes, with: self, digest)
        case .ecies: throw .otherKind
        }
    }
}
