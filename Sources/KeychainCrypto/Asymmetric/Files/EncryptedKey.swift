internal import Foundation
package import KeychainModel
internal import SwiftASN1

/// `EncryptedPrivateKeyInfo` of PKCS#8 under PBES2 (RFC 8018), with AES in CBC mode.
package struct EncryptedKey: Sendable {
    private let derivation: PassphraseDerivation
    private let keyByteCount: Int
    private let initial: [UInt8]
    private let ciphertext: [UInt8]

    /// - Throws: ``KeyFileFlaw/otherEncryption(_:)`` for another scheme, ``KeyFileFlaw/tooExpensive(_:)`` for a derivation
    ///   that nobody should wait for.
    init(_ root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            let (derivation, keyByteCount, initial) = try nodes.sequence { nodes in
                let scheme = try ASN1ObjectIdentifier(derEncoded: &nodes)
                guard scheme == [1, 2, 840, 113_549, 1, 5, 13] else { throw Self.otherScheme(scheme) }
                return try nodes.sequence { nodes in
                    let derivation = try PassphraseDerivation(&nodes)
                    let (keyByteCount, initial) = try Self.cipher(&nodes)
                    return (derivation, keyByteCount, initial)
                }
            }
            return EncryptedKey(
                derivation: derivation, keyByteCount: keyByteCount, initial: initial,
                ciphertext: Array(try ASN1OctetString(derEncoded: &nodes).bytes))
        }
        guard derivation.keyByteCount ?? keyByteCount == keyByteCount else { throw KeyFileFlaw.damaged }
    }

    private init(derivation: PassphraseDerivation, keyByteCount: Int, initial: [UInt8], ciphertext: [UInt8]) {
        (self.derivation, self.keyByteCount) = (derivation, keyByteCount)
        (self.initial, self.ciphertext) = (initial, ciphertext)
    }

    private static func cipher(_ nodes: inout ASN1NodeCollection.Iterator) throws -> (Int, [UInt8]) {
        try nodes.sequence { nodes in
            let cipher = try ASN1ObjectIdentifier(derEncoded: &nodes)
            let sizes: [ASN1ObjectIdentifier: Int] = [
                [2, 16, 840, 1, 101, 3, 4, 1, 2]: 16, [2, 16, 840, 1, 101, 3, 4, 1, 22]: 24,
                [2, 16, 840, 1, 101, 3, 4, 1, 42]: 32,
            ]
            guard let size = sizes[cipher] else { throw otherScheme(cipher) }
            let initial = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
            guard initial.count == AESCBC.blockByteCount else { throw KeyFileFlaw.damaged }
            return (size, initial)
        }
    }

    fileprivate static func otherScheme(_ scheme: ASN1ObjectIdentifier) -> KeyFileFlaw {
        .otherEncryption(
            "\(scheme), and only PBES2 with AES-CBC is known here: "
                + "'openssl pkcs8 -topk8 -v2 aes-256-cbc -in FILE -out NEWFILE' writes it anew")
    }

    /// Opens the key. This takes as long as the file asks for: up to seconds.
    ///
    /// - Throws: `.authenticationFailed` for a wrong passphrase and for a file that was damaged, which cannot be told
    ///   apart; `.parameter` for a key of a kind that is not known here.
    package func key(_ passphrase: SecretBytes) throws(KeychainError) -> AsymmetricKey {
        let failure = KeychainError(
            .authenticationFailed, message: "the passphrase is wrong, or the file of the key is damaged")
        var isDerived = false
        let key = SecretBytes(count: keyByteCount) { target in
            isDerived = passphrase.withUnsafeBytes { derivation.derive($0, into: target) }
        }
        guard isDerived, let plaintext = key.withUnsafeBytes({ AESCBC.decrypt(ciphertext, key: $0, initial: initial) })
        else {
            throw failure
        }
        do {
            return try AsymmetricKey(privateKeyInfo: DER.parse(plaintext))
        } catch let flaw as KeyFileFlaw {
            guard case .otherKind = flaw else { throw failure }
            throw flaw.error
        } catch {
            throw failure
        }
    }
}

/// How a passphrase becomes a key.
private enum PassphraseDerivation: Sendable {
    private static let mostIterations = 10_000_000
    /// Half a GiB: 128 · N · r.
    private static let mostMemory = 512 << 20

    case pbkdf2(salt: [UInt8], iterations: UInt32, DigestAlgorithm, keyByteCount: Int?)
    case scrypt(salt: [UInt8], cost: UInt8, blockSize: UInt32, parallelism: UInt32, keyByteCount: Int?)

    init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        self = try nodes.sequence { nodes in
            let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
            return switch name {
            case [1, 2, 840, 113_549, 1, 5, 12]: try nodes.sequence(Self.pbkdf2)
            case [1, 3, 6, 1, 4, 1, 11591, 4, 11]: try nodes.sequence(Self.scrypt)
            default: throw EncryptedKey.otherScheme(name)
            }
        }
    }

    /// `PBKDF2-params` (RFC 8018, appendix A.2).
    private static func pbkdf2(_ nodes: inout ASN1NodeCollection.Iterator) throws -> PassphraseDerivation {
        let salt = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
        let iterations = try Int(derEncoded: &nodes)
        guard iterations > 0 else { throw KeyFileFlaw.damaged }
        guard iterations <= mostIterations else {
            throw KeyFileFlaw.tooExpensive(
                "the passphrase of the key asks for \(iterations) rounds of PBKDF2, and at most 10 million are done")
        }
        var rest = Array(IteratorSequence(nodes))[...]
        while nodes.next() != nil {}
        var keyByteCount: Int?
        if rest.first?.identifier == .integer, let node = rest.popFirst() { keyByteCount = try Int(derEncoded: node) }
        var digest = DigestAlgorithm.sha1
        if let node = rest.popFirst() {
            digest = try DER.sequence(node, identifier: .sequence) { nodes in
                let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
                while nodes.next() != nil {}
                guard let digest = Self.digests[name] else { throw EncryptedKey.otherScheme(name) }
                return digest
            }
        }
        guard rest.isEmpty else { throw KeyFileFlaw.damaged }
        return .pbkdf2(salt: salt, iterations: UInt32(iterations), digest, keyByteCount: keyByteCount)
    }

    private static let digests: [ASN1ObjectIdentifier: DigestAlgorithm] = [
        [1, 2, 840, 113_549, 2, 7]: .sha1, [1, 2, 840, 113_549, 2, 8]: .sha224, [1, 2, 840, 113_549, 2, 9]: .sha256,
        [1, 2, 840, 113_549, 2, 10]: .sha384, [1, 2, 840, 113_549, 2, 11]: .sha512,
    ]

    /// `scrypt-params` (RFC 7914, section 7).
    private static func scrypt(_ nodes: inout ASN1NodeCollection.Iterator) throws -> PassphraseDerivation {
        let salt = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
        let (rounds, blockSize) = (try Int(derEncoded: &nodes), try Int(derEncoded: &nodes))
        let parallelism = try Int(derEncoded: &nodes)
        let keyByteCount = try nodes.next().map { try Int(derEncoded: $0) }
        guard rounds > 1, rounds.nonzeroBitCount == 1, blockSize > 0, parallelism > 0 else { throw KeyFileFlaw.damaged }
        guard rounds <= mostMemory, blockSize <= 1024, 128 * rounds * blockSize <= mostMemory, parallelism <= 16 else {
            throw KeyFileFlaw.tooExpensive(
                "the passphrase of the key asks for more memory or time of scrypt than half a GiB, sixteen times")
        }
        return .scrypt(
            salt: salt, cost: UInt8(rounds.trailingZeroBitCount), blockSize: UInt32(blockSize),
            parallelism: UInt32(parallelism), keyByteCount: keyByteCount)
    }

    /// As the file says, if it does.
    var keyByteCount: Int? {
        switch self {
        case .pbkdf2(_, _, _, let count), .scrypt(_, _, _, _, let count): count
        }
    }

    /// - Returns: false for parameters that do not go together, or if there is no memory.
    func derive(_ passphrase: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer) -> Bool {
        switch self {
        case .pbkdf2(let salt, let iterations, let digest, _):
            CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
                passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt, salt.count,
                iterations, digest.function, key.count, key.octets) == 1
        case .scrypt(let salt, let cost, let blockSize, let parallelism, _):
            salt.withUnsafeBytes {
                Scrypt.derive(
                    passphrase, salt: $0, cost: cost, blockSize: blockSize, parallelism: parallelism, into: key)
            }
        }
    }
}
