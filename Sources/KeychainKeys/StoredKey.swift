package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// One half of a key pair, in this process or in the engine.
package enum StoredKey: Sendable {
    case software(AsymmetricKey)
    /// The private half of a pair that is used where the keychain is.
    case engine(any CurvePrivateKey)

    package var isPrivate: Bool {
        switch self {
        case .software(let key): key.isPrivate
        case .engine: true
        }
    }

    package var kind: AsymmetricKey.Kind {
        switch self {
        case .software(let key): key.kind
        case .engine: .ec
        }
    }

    package var bitCount: Int {
        switch self {
        case .software(let key): key.bitCount
        case .engine(let key): key.curve.bitCount
        }
    }

    package var blockByteCount: Int {
        switch self {
        case .software(let key): key.blockByteCount
        case .engine(let key): key.curve.fieldByteCount
        }
    }

    /// PKCS#1's DER, or 04 ‖ X ‖ Y.
    package var publicBytes: Data {
        switch self {
        case .software(let key): key.publicBytes
        case .engine(let key): key.point
        }
    }

    package var publicHalf: AsymmetricKey {
        get throws(KeychainError) {
            switch self {
            case .software(let key): try key.publicHalf
            case .engine(let key): .ec(try ECKey(key.curve, point: key.point))
            }
        }
    }

    package func sign(_ input: Data, _ algorithm: KeyAlgorithm.Signature) throws(KeychainError) -> Data {
        switch self {
        case .software(.rsa(let key)): try key.sign(input, algorithm)
        case .software(.ec(let key)): try key.sign(input, algorithm)
        case .engine(let key): try key.sign(input, algorithm)
        }
    }

    /// - Throws: `.parameter` for an algorithm of another kind of key.
    package func decrypt(_ bytes: Data, _ algorithm: KeyAlgorithm.Encryption) throws(KeychainError) -> Data {
        switch (self, algorithm) {
        case (.software(.rsa(let key)), _): try key.decrypt(bytes, algorithm)
        case (.software(.ec(let key)), .ecies(let scheme)): try scheme.decrypt(bytes, with: key)
        case (.engine(let key), .ecies(let scheme)): try scheme.decrypt(bytes, with: key)
        default: throw KeychainError(.parameter, message: "the algorithm is for keys of another kind")
        }
    }

    /// - Returns: the X coordinate of the common point.
    /// - Throws: `.decode` for a key on another curve, `.parameter` for an RSA key.
    package func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data {
        guard kind == .rsa || peer.curve.bitCount == bitCount else {
            throw KeychainError(.decode, message: "the two keys are on different curves")
        }
        return switch self {
        case .software(.ec(let key)): try key.sharedSecret(with: peer)
        case .engine(let key): try key.sharedSecret(with: peer)
        case .software(.rsa): throw KeychainError(.parameter, message: "an RSA key agrees on no secret")
        }
    }
}
