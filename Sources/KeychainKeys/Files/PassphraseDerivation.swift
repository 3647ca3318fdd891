internal import KeychainCrypto
internal import SwiftASN1

/// How a passphrase becomes a key by PBES2 or PBMAC1 (RFC 8018).
enum PassphraseDerivation: Sendable {
    static let mostRounds = 10_000_000
    /// Half a GiB: 128 · N · r.
    private static let mostMemory = 512 << 20

    case pbkdf2(salt: [UInt8], rounds: UInt32, DigestAlgorithm, keyByteCount: Int?)
    case scrypt(salt: [UInt8], cost: UInt8, blockSize: UInt32, parallelism: UInt32, keyByteCount: Int?)

    init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        self = try nodes.sequence { nodes in
            let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
            return switch name {
            case [1, 2, 840, 113_549, 1, 5, 12]: try nodes.sequence(Self.pbkdf2)
            case [1, 3, 6, 1, 4, 1, 11591, 4, 11]: try nodes.sequence(Self.scrypt)
            default: throw PassphraseFlaw.unknown(name.description)
            }
        }
    }

    /// `PBKDF2-params` (RFC 8018, appendix A.2).
    private static func pbkdf2(_ nodes: inout ASN1NodeCollection.Iterator) throws -> PassphraseDerivation {
        let salt = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
        let rounds = try Int(derEncoded: &nodes)
        try requireAffordable(rounds: rounds)
        var rest = Array(IteratorSequence(nodes))[...]
        while nodes.next() != nil {}
        var keyByteCount: Int?
        if rest.first?.identifier == .integer, let node = rest.popFirst() { keyByteCount = try Int(derEncoded: node) }
        let digest = try rest.popFirst().map { try DigestAlgorithm(ofHMAC: $0) } ?? .sha1
        guard rest.isEmpty else { throw PassphraseFlaw.damaged }
        return .pbkdf2(salt: salt, rounds: UInt32(rounds), digest, keyByteCount: keyByteCount)
    }

    static func requireAffordable(rounds: Int) throws {
        guard rounds > 0 else { throw PassphraseFlaw.damaged }
        guard rounds <= mostRounds else {
            throw PassphraseFlaw.tooExpensive("\(rounds) rounds of hashing, and at most 10 million are done")
        }
    }

    /// `scrypt-params` (RFC 7914, section 7).
    private static func scrypt(_ nodes: inout ASN1NodeCollection.Iterator) throws -> PassphraseDerivation {
        let salt = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
        let (rounds, blockSize) = (try Int(derEncoded: &nodes), try Int(derEncoded: &nodes))
        let parallelism = try Int(derEncoded: &nodes)
        let keyByteCount = try nodes.next().map { try Int(derEncoded: $0) }
        guard rounds > 1, rounds.nonzeroBitCount == 1, blockSize > 0, parallelism > 0 else {
            throw PassphraseFlaw.damaged
        }
        guard rounds <= mostMemory, blockSize <= 1024, 128 * rounds * blockSize <= mostMemory, parallelism <= 16 else {
            throw PassphraseFlaw.tooExpensive("more memory or time of scrypt than half a GiB, sixteen times")
        }
        return .scrypt(
            salt: salt, cost: UInt8(rounds.trailingZeroBitCount), blockSize: UInt32(blockSize),
            parallelism: UInt32(parallelism), keyByteCount: keyByteCount)
    }

    /// The length that the file names, if it does.
    var keyByteCount: Int? {
        switch self {
        case .pbkdf2(_, _, _, let count), .scrypt(_, _, _, _, let count): count
        }
    }

    /// The work, in rounds of hashing.
    var rounds: Int {
        switch self {
        case .pbkdf2(_, let rounds, _, _): Int(rounds)
        case .scrypt(_, let cost, let blockSize, let parallelism, _):
            (1 << Int(cost)) * Int(blockSize) * Int(parallelism)
        }
    }

    /// - Returns: false for parameters that do not go together, or if there is no memory.
    func derive(_ passphrase: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer) -> Bool {
        switch self {
        case .pbkdf2(let salt, let rounds, let digest, _):
            LibraryOutput.leavingNoErrors {
                CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt, salt.count,
                    rounds, digest.function, key.count, key.octets) == 1
            }
        case .scrypt(let salt, let cost, let blockSize, let parallelism, _):
            salt.withUnsafeBytes {
                Scrypt.derive(
                    passphrase, salt: $0, cost: cost, blockSize: blockSize, parallelism: parallelism, into: key)
            }
        }
    }
}

extension DigestAlgorithm {
    private static let functionsOfHMAC: [ASN1ObjectIdentifier: DigestAlgorithm] = [
        [1, 2, 840, 113_549, 2, 7]: .sha1, [1, 2, 840, 113_549, 2, 8]: .sha224, [1, 2, 840, 113_549, 2, 9]: .sha256,
        [1, 2, 840, 113_549, 2, 10]: .sha384, [1, 2, 840, 113_549, 2, 11]: .sha512,
    ]

    /// - Parameter node: An `AlgorithmIdentifier` that names HMAC with a digest.
    init(ofHMAC node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let name = try ASN1ObjectIdentifier(derEncoded: &nodes)
            while nodes.next() != nil {}
            guard let digest = Self.functionsOfHMAC[name] else { throw PassphraseFlaw.unknown(name.description) }
            return digest
        }
    }

    static let nameOfSHA256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]

    private static let functions: [ASN1ObjectIdentifier: DigestAlgorithm] = [
        [1, 3, 14, 3, 2, 26]: .sha1, [2, 16, 840, 1, 101, 3, 4, 2, 4]: .sha224,
        nameOfSHA256: .sha256, [2, 16, 840, 1, 101, 3, 4, 2, 2]: .sha384,
        [2, 16, 840, 1, 101, 3, 4, 2, 3]: .sha512,
    ]

    init(_ name: ASN1ObjectIdentifier) throws {
        guard let digest = Self.functions[name] else { throw PassphraseFlaw.unknown(name.description) }
        self = digest
    }
}
