internal import Foundation
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// A private key of the keychain, where it can be used.
enum StoredKey {
    case software(AsymmetricKey)
    case engine(EngineKey)

    /// - Throws: `.decode` if the item's bytes are no key.
    init(_ item: Item, _ session: KeychainSession) throws(KeychainError) {
        if let key = EngineKey(item, session) {
            self = .engine(key)
        } else {
            self = .software(try AsymmetricKey(item.attributes, item.secret))
        }
    }

    var publicHalf: AsymmetricKey {
        get throws(KeychainError) {
            switch self {
            case .software(let key): try key.publicHalf
            case .engine(let key): .ec(try ECKey(key.curve, point: key.point))
            }
        }
    }

    func sign(_ input: Data, _ algorithm: KeyAlgorithm.Signature) throws(KeychainError) -> Data {
        switch self {
        case .software(.rsa(let key)): try key.sign(input, algorithm)
        case .software(.ec(let key)): try key.sign(input, algorithm)
        case .engine(let key): try key.sign(input, algorithm)
        }
    }

    func decrypt(_ bytes: Data, _ algorithm: KeyAlgorithm.Encryption) throws(KeychainError) -> Data {
        switch (self, algorithm) {
        case (.software(.rsa(let key)), _): try key.decrypt(bytes, algorithm)
        case (.software(.ec(let key)), .ecies(let scheme)): try scheme.decrypt(bytes, with: key)
        case (.engine(let key), .ecies(let scheme)): try scheme.decrypt(bytes, with: key)
        default: throw KeychainError(.parameter, message: "the algorithm is for keys of another kind")
        }
    }

    /// - Returns: the X coordinate of the common point.
    func sharedSecret(with peer: AsymmetricKey) throws(KeychainError) -> Data {
        let key: any CurvePrivateKey
        switch self {
        case .software(.ec(let own)): key = own
        case .engine(let own): key = own
        case .software(.rsa): throw KeychainError(.parameter, message: "an RSA key agrees on no secret")
        }
        guard case .ec(let peer) = peer, peer.curve == key.curve else {
            throw KeychainError(.parameter, message: "the other key is not on the same curve, P-\(key.curve.bitCount)")
        }
        return try key.sharedSecret(with: peer)
    }
}

/// A private key in the engine, which is asked to use it there.
struct EngineKey: CurvePrivateKey {
    let curve = Curve.p256
    let point: Data
    private let reference: PersistentReference
    private let session: KeychainSession

    /// - Returns: nil for an item that is no key in the engine.
    init?(_ item: Item, _ session: KeychainSession) {
        guard item.isKeptInEngine, case .data(let point)? = item.attributes[.tokenObjectID] else { return nil }
        (self.point, self.session) = (point, session)
        reference = item.persistentReference
    }

    func signature(ofDigest digest: Data) throws(KeychainError) -> Data { try use(.sign(digest: digest)) }

    func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data { try use(.agree(point: peer.point)) }

    private func use(_ operation: KeyUse.Operation) throws(KeychainError) -> Data {
        let request = Request.useKey(KeyUse(reference, operation))
        guard case .keyResult(let bytes) = try session.authentication.perform(request, over: session.connection) else {
            throw .unexpectedReply
        }
        return bytes.copyData()
    }
}
