package import KeychainCrypto
package import KeychainModel
internal import SwiftASN1

/// The code that tells whether the passphrase of a PKCS#12 file is right and its content whole: `MacData` (RFC 7292,
/// section 4), and PBMAC1 in it (RFC 9579).
package struct PassphraseCode: Sendable {
    private enum Derivation {
        case pkcs12(salt: [UInt8], rounds: Int)
        case pbmac1(PassphraseDerivation)
    }

    private let derivation: Derivation
    private let digest: DigestAlgorithm
    private let code: [UInt8]

    /// - Parameter bytes: `MacData` in BER.
    /// - Throws: `.decode` for an algorithm that is not known here, and for one that asks for too much work.
    package init(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        self = try PassphraseFlaw.reading(bytes) { node in
            try DER.sequence(node, identifier: .sequence) { nodes in
                let (scheme, digest, code) = try nodes.sequence { nodes in
                    let (scheme, digest) = try Self.scheme(&nodes)
                    return (scheme, digest, try ASN1OctetString(berEncoded: &nodes).bytes)
                }
                let salt = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
                let rounds = try nodes.next().map { try Int(derEncoded: $0) } ?? 1
                if scheme == nil { try PassphraseDerivation.requireAffordable(rounds: rounds) }
                guard code.count == digest.byteCount else { throw PassphraseFlaw.damaged }
                return PassphraseCode(
                    derivation: scheme.map { .pbmac1($0) } ?? .pkcs12(salt: salt, rounds: rounds), digest: digest,
                    code: Array(code))
            }
        }
    }

    private init(derivation: Derivation, digest: DigestAlgorithm, code: [UInt8]) {
        (self.derivation, self.digest, self.code) = (derivation, digest, code)
    }

    /// - Returns: PBMAC1's derivation, or nil for a digest alone, which means PKCS#12's own.
    private static func scheme(
        _ nodes: inout ASN1NodeCollection.Iterator
    ) throws -> (PassphraseDerivation?, DigestAlgorithm) {
        try nodes.sequence { nodes in
            let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
            guard name == [1, 2, 840, 113_549, 1, 5, 14] else {
                while nodes.next() != nil {}
                return (nil, try DigestAlgorithm(name))
            }
            return try nodes.sequence { nodes in
                let derivation = try PassphraseDerivation(&nodes)
                guard let function = nodes.next(), 1...64 ~= derivation.keyByteCount ?? 0 else {
                    throw PassphraseFlaw.damaged
                }
                return (derivation, try DigestAlgorithm(ofHMAC: function))
            }
        }
    }

    /// The work of one comparison, in rounds of hashing.
    package var rounds: Int {
        switch derivation {
        case .pkcs12(_, let rounds): rounds
        case .pbmac1(let derivation): derivation.rounds
        }
    }

    package func isRight(for content: [UInt8], _ passphrase: FilePassphrase) -> Bool {
        guard let right = computed(for: content, passphrase) else { return false }
        // The comparison takes the same time wherever the codes differ.
        return right.count == code.count && zip(right, code).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func computed(for content: [UInt8], _ passphrase: FilePassphrase) -> [UInt8]? {
        let byteCount: Int
        switch derivation {
        case .pkcs12: byteCount = digest.byteCount
        case .pbmac1(let derivation): byteCount = derivation.keyByteCount ?? 0
        }
        var isDerived = true
        let key = SecretBytes(count: byteCount) { target in
            switch derivation {
            case .pkcs12(let salt, let rounds):
                PKCS12Derivation.derive(.code, passphrase, salt: salt, rounds: rounds, digest, into: target)
            case .pbmac1(let derivation):
                isDerived = passphrase.bytes.withUnsafeBytes { derivation.derive($0, into: target) }
            }
        }
        return isDerived ? key.withUnsafeBytes { digest.code(of: content[...], key: $0) } : nil
    }
}

extension PassphraseCode {
    /// The code of a new file, with SHA-256 and PKCS#12's own derivation: programs that know PBMAC1 are few.
    package init(
        for content: [UInt8], _ passphrase: FilePassphrase, rounds: Int, _ randomness: some Randomness
    ) throws(KeychainError) {
        let unfinished = PassphraseCode(
            derivation: .pkcs12(salt: try randomness.bytes(16), rounds: rounds), digest: .sha256, code: [])
        // This derivation cannot fail.
        self.init(
            derivation: unfinished.derivation, digest: .sha256,
            code: unfinished.computed(for: content, passphrase) ?? [])
    }

    /// `MacData` of ``init(for:_:rounds:_:)``, in DER.
    package var der: [UInt8] {
        get throws {
            guard case .pkcs12(let salt, let rounds) = derivation else { return [] }
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize(DigestAlgorithm.nameOfSHA256)
                        try serializer.serialize(ASN1Null())
                    }
                    try serializer.serialize(ASN1OctetString(contentBytes: code[...]))
                }
                try serializer.serialize(ASN1OctetString(contentBytes: salt[...]))
                try serializer.serialize(rounds)
            }
            return serializer.serializedBytes
        }
    }
}
