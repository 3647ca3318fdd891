internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import KeychainSecurity

/// Signing and verifying with keys in this process: `SecKeyCreateSignature` and `SecKeyVerifySignature` in turn with swift-crypto.
struct SoftwareKeyBenchmark {
    let count: Int
    let batches: Int

    private let message = Data((0..<256).map { UInt8($0) })

    func run() throws -> [Row] { try curveRows() + rsaRows() }

    private func curveRows() throws -> [Row] {
        let plain = P256.Signing.PrivateKey()
        let plainSignature = try plain.signature(for: message)
        let key = try PrivateKey(
            plain.x963Representation, kSecAttrKeyTypeECSECPrimeRandom, .ecdsaSignatureMessageX962SHA256)
        return try rows("P-256", key) {
            _ = try plain.signature(for: message)
        } verify: {
            plain.publicKey.isValidSignature(plainSignature, for: message)
        }
    }

    private func rsaRows() throws -> [Row] {
        let plain = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let plainSignature = try plain.signature(for: message, padding: .insecurePKCS1v1_5)
        let key = try PrivateKey(plain.derRepresentation, kSecAttrKeyTypeRSA, .rsaSignatureMessagePKCS1v15SHA256)
        return try rows("RSA-2048", key) {
            _ = try plain.signature(for: message, padding: .insecurePKCS1v1_5)
        } verify: {
            plain.publicKey.isValidSignature(plainSignature, for: message, padding: .insecurePKCS1v1_5)
        }
    }

    private func rows(
        _ title: String, _ key: PrivateKey, sign: () throws -> Void, verify: () -> Bool
    ) throws -> [Row] {
        let signature = try key.sign(message)
        let signing = try InTurn(count: count, batches: batches).samples(of: { _ = try key.sign(message) }, and: sign)
        let verifying = try InTurn(count: count, batches: batches).samples(
            of: { try key.verify(signature, message) },
            and: { guard verify() else { throw BenchmarkError("swift-crypto refuses its own signature") } })
        return [
            row("\(title): sign, SecKeyCreateSignature", signing),
            row("\(title): verify, SecKeyVerifySignature", verifying),
        ]
    }

    private func row(_ work: String, _ samples: (ours: [Double], floor: [Double])) -> Row {
        Row(
            work: work, items: nil, unit: .microseconds, floor: Figure(samples: samples.floor),
            engine: Figure(samples: samples.ours), measure: .ratio, goal: 1.25)
    }
}

/// A private key of Apple's names.
struct PrivateKey {
    private let key: SecKey
    private let publicKey: SecKey
    private let algorithm: SecKeyAlgorithm

    init(_ bytes: Data, _ type: CFString, _ algorithm: SecKeyAlgorithm) throws {
        let attributes: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        guard let key = SecKeyCreateWithData(bytes as NSData, attributes as CFDictionary, nil) else {
            throw BenchmarkError("SecKeyCreateWithData reads no key of swift-crypto")
        }
        try self.init(key, algorithm)
    }

    init(_ key: SecKey, _ algorithm: SecKeyAlgorithm) throws {
        guard let publicKey = SecKeyCopyPublicKey(key) else { throw BenchmarkError("the key has no public half") }
        (self.key, self.publicKey, self.algorithm) = (key, publicKey, algorithm)
    }

    func sign(_ message: Data) throws -> Data {
        guard let signature = SecKeyCreateSignature(key, algorithm, message as NSData, nil) else {
            throw BenchmarkError("SecKeyCreateSignature failed")
        }
        return Data(bytes: signature.bytes, count: signature.length)
    }

    func verify(_ signature: Data, _ message: Data) throws {
        guard SecKeyVerifySignature(publicKey, algorithm, message as NSData, signature as NSData, nil) else {
            throw BenchmarkError("SecKeyVerifySignature refuses a signature of its key")
        }
    }
}

/// Two pieces of work that take turns in short batches, so that a slow second affects both.
struct InTurn {
    let count: Int
    let batches: Int

    func samples(
        of ours: () throws -> Void, and floor: () throws -> Void
    ) throws -> (ours: [Double], floor: [Double]) {
        var samples: (ours: [Double], floor: [Double]) = ([], [])
        // The first batch of each fills caches and is not counted.
        for batch in 0...batches {
            let mine = try (0..<count / batches).map { _ in try Stopwatch.time(ours).microseconds }
            let theirs = try (0..<count / batches).map { _ in try Stopwatch.time(floor).microseconds }
            if batch == 0 { continue }
            samples.ours += mine
            samples.floor += theirs
        }
        return samples
    }
}
