internal import Crypto
package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// Encryption to a key on a curve, as Apple's devices do it: an ephemeral key's point, the ciphertext, and a tag of 16 bytes.
///
/// AES-GCM has 16 bytes of nonce and no additional data. Its key, of 16 bytes for P-256 and 32 for larger curves, comes out
/// of ``X963KeyDerivation`` with the ephemeral point as shared information.
package struct ECIES: Sendable, Hashable {
    package let digest: DigestAlgorithm
    /// Whether the name has "Cofactor" in it, which on these curves makes no other difference.
    package let isCofactor: Bool
    /// Whether the nonce is derived with the key. Otherwise it is zero, since each key is used once.
    package let derivesNonce: Bool

    package init(digest: DigestAlgorithm, isCofactor: Bool, derivesNonce: Bool) {
        (self.digest, self.isCofactor, self.derivesNonce) = (digest, isCofactor, derivesNonce)
    }

    package func encrypt(_ plaintext: Data, to key: ECKey) throws(KeychainError) -> Data {
        let ephemeral = try ECKey(generating: key.curve)
        let box = try self.box(try ephemeral.sharedSecret(with: key), ephemeral.point, key.curve)
        return ephemeral.point + (try box.seal(plaintext))
    }

    /// - Throws: `.parameter` with one text for every cause; the error of the key's place.
    package func decrypt(_ bytes: Data, with key: any CurvePrivateKey) throws(KeychainError) -> Data {
        let point = Data(bytes.prefix(key.curve.pointByteCount))
        let rest = Data(bytes.dropFirst(point.count))
        guard let ephemeral = try? ECKey(key.curve, point: point), rest.count >= GCMBox.tagByteCount else {
            throw GCMBox.failure
        }
        return try box(try key.sharedSecret(with: ephemeral), point, key.curve).open(rest)
    }

    private func box(_ secret: Data, _ point: Data, _ curve: Curve) throws(KeychainError) -> GCMBox {
        let keyCount = curve == .p256 ? 16 : 32
        let derived = try X963KeyDerivation.derive(
            from: secret, sharedInfo: point, count: keyCount + (derivesNonce ? GCMBox.nonceByteCount : 0), digest)
        return GCMBox(
            key: derived.prefix(keyCount),
            nonce: derivesNonce ? derived.dropFirst(keyCount) : Data(count: GCMBox.nonceByteCount))
    }
}

/// AES-GCM with a nonce of 16 bytes, under a key that is used once.
struct GCMBox {
    static let nonceByteCount = 16
    static let tagByteCount = 16
    static let failure = KeychainError(.parameter, message: "the bytes do not decrypt with this key")

    let key: Data
    let nonce: Data
    var additional = Data()

    /// - Returns: the ciphertext and the tag.
    func seal(_ plaintext: Data) throws(KeychainError) -> Data {
        do {
            let box = try AES.GCM.seal(
                plaintext, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: additional
            )
            return box.ciphertext + box.tag
        } catch {
            throw KeychainError(.internalFailure, message: "the bytes do not encrypt", cause: error)
        }
    }

    func open(_ bytes: Data) throws(KeychainError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: bytes.dropLast(Self.tagByteCount),
                tag: bytes.suffix(Self.tagByteCount))
            return try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: additional)
        } catch {
            throw Self.failure
        }
    }
}
