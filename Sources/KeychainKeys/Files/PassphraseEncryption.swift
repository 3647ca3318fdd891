package import KeychainCrypto
package import KeychainModel
internal import SwiftASN1

/// An encryption under a passphrase, as `AlgorithmIdentifier` names it: PBES2 (RFC 8018), or one of PKCS#12's own
/// (RFC 7292, appendix C), which are only read.
package struct PassphraseEncryption: Sendable {
    private enum Derivation {
        case pbes2(PassphraseDerivation, initial: [UInt8])
        case pkcs12(salt: [UInt8], rounds: Int)
    }

    private let derivation: Derivation
    private let cipher: PassphraseCipher

    /// - Throws: ``PassphraseFlaw``.
    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let scheme = try ASN1ObjectIdentifier(derEncoded: &nodes)
            if let cipher = Self.ciphersOfPKCS12[scheme] {
                return try nodes.sequence { nodes in
                    let salt = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
                    let rounds = try Int(derEncoded: &nodes)
                    try PassphraseDerivation.requireAffordable(rounds: rounds)
                    return PassphraseEncryption(.pkcs12(salt: salt, rounds: rounds), cipher)
                }
            }
            guard scheme == .pbes2 else { throw PassphraseFlaw.unknown(scheme.description) }
            return try nodes.sequence(Self.pbes2)
        }
    }

    /// - Parameter bytes: An `AlgorithmIdentifier` in BER.
    /// - Throws: `.decode` for a scheme that is not known here, and for one that asks for too much work.
    package init(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        self = try PassphraseFlaw.reading(bytes) { try PassphraseEncryption($0) }
    }

    private init(_ derivation: Derivation, _ cipher: PassphraseCipher) {
        (self.derivation, self.cipher) = (derivation, cipher)
    }

    private static func pbes2(_ nodes: inout ASN1NodeCollection.Iterator) throws -> PassphraseEncryption {
        let derivation = try PassphraseDerivation(&nodes)
        return try nodes.sequence { nodes in
            let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
            guard let cipher = ciphersOfPBES2[name] else { throw PassphraseFlaw.unknown(name.description) }
            let initial = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
            guard initial.count == cipher.initialByteCount,
                derivation.keyByteCount ?? cipher.keyByteCount == cipher.keyByteCount
            else { throw PassphraseFlaw.damaged }
            return PassphraseEncryption(.pbes2(derivation, initial: initial), cipher)
        }
    }

    private static let ciphersOfPBES2: [ASN1ObjectIdentifier: PassphraseCipher] = [
        [2, 16, 840, 1, 101, 3, 4, 1, 2]: .aes128, [2, 16, 840, 1, 101, 3, 4, 1, 22]: .aes192,
        .aes256CBC: .aes256, [1, 2, 840, 113_549, 3, 7]: .tripleDES,
    ]

    private static let ciphersOfPKCS12: [ASN1ObjectIdentifier: PassphraseCipher] = [
        [1, 2, 840, 113_549, 1, 12, 1, 1]: .rc4With128Bits, [1, 2, 840, 113_549, 1, 12, 1, 2]: .rc4With40Bits,
        [1, 2, 840, 113_549, 1, 12, 1, 3]: .tripleDES, [1, 2, 840, 113_549, 1, 12, 1, 4]: .tripleDESWithTwoKeys,
        [1, 2, 840, 113_549, 1, 12, 1, 5]: .rc2With128Bits, [1, 2, 840, 113_549, 1, 12, 1, 6]: .rc2With40Bits,
    ]

    /// The work of one decryption, in rounds of hashing.
    package var rounds: Int {
        switch derivation {
        case .pbes2(let derivation, _): derivation.rounds
        case .pkcs12(_, let rounds): 3 * rounds
        }
    }

    /// - Returns: nil for another passphrase, nearly always, and for damaged bytes.
    package func decrypt(_ ciphertext: [UInt8], _ passphrase: FilePassphrase) -> [UInt8]? {
        withKey(passphrase) { key, initial in cipher.decrypt(ciphertext, key: key, initial: initial) }
    }

    package func encrypt(_ plaintext: [UInt8], _ passphrase: FilePassphrase) -> [UInt8]? {
        withKey(passphrase) { key, initial in cipher.encrypt(plaintext, key: key, initial: initial) }
    }

    private func withKey(
        _ passphrase: FilePassphrase, _ body: (UnsafeRawBufferPointer, [UInt8]) -> [UInt8]?
    ) -> [UInt8]? {
        var (isDerived, initial) = (true, [UInt8]())
        let key = SecretBytes(count: cipher.keyByteCount) { target in
            switch derivation {
            case .pbes2(let derivation, let itsInitial):
                initial = itsInitial
                isDerived = passphrase.bytes.withUnsafeBytes { derivation.derive($0, into: target) }
            case .pkcs12(let salt, let rounds):
                PKCS12Derivation.derive(.key, passphrase, salt: salt, rounds: rounds, .sha1, into: target)
                initial = [UInt8](repeating: 0, count: cipher.initialByteCount)
                initial.withUnsafeMutableBytes {
                    PKCS12Derivation.derive(.initial, passphrase, salt: salt, rounds: rounds, .sha1, into: $0)
                }
            }
        }
        return isDerived ? key.withUnsafeBytes { body($0, initial) } : nil
    }
}

extension PassphraseEncryption {
    /// PBES2 with PBKDF2, HMAC-SHA-256 and AES-256, with a salt of its own.
    package init(rounds: UInt32, _ randomness: some Randomness) throws(KeychainError) {
        let derivation = PassphraseDerivation.pbkdf2(
            salt: try randomness.bytes(16), rounds: rounds, .sha256, keyByteCount: nil)
        self.init(.pbes2(derivation, initial: try randomness.bytes(PassphraseCipher.aes256.initialByteCount)), .aes256)
    }

    /// The `AlgorithmIdentifier` of ``init(rounds:_:)``, in DER.
    package var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try append(to: &serializer)
            return serializer.serializedBytes
        }
    }

    private func append(to serializer: inout DER.Serializer) throws {
        guard case .pbes2(.pbkdf2(let salt, let rounds, _, _), let initial) = derivation else { return }
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(ASN1ObjectIdentifier.pbes2)
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    try serializer.serialize(ASN1ObjectIdentifier.pbkdf2)
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize(ASN1OctetString(contentBytes: salt[...]))
                        try serializer.serialize(Int(rounds))
                        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                            try serializer.serialize(ASN1ObjectIdentifier.hmacWithSHA256)
                            try serializer.serialize(ASN1Null())
                        }
                    }
                }
                try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    try serializer.serialize(ASN1ObjectIdentifier.aes256CBC)
                    try serializer.serialize(ASN1OctetString(contentBytes: initial[...]))
                }
            }
        }
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let pbes2: Self = [1, 2, 840, 113_549, 1, 5, 13]
    fileprivate static let pbkdf2: Self = [1, 2, 840, 113_549, 1, 5, 12]
    fileprivate static let hmacWithSHA256: Self = [1, 2, 840, 113_549, 2, 9]
    fileprivate static let aes256CBC: Self = [2, 16, 840, 1, 101, 3, 4, 1, 42]
}

extension Randomness {
    /// Draws bytes for salts, which are no secret.
    func bytes(_ count: Int) throws(KeychainError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: KeychainError?
        bytes.withUnsafeMutableBytes { target in
            do throws(KeychainError) { try fill(target) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }
}
