import Crypto
import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K46 to K50: encryption to keys on curves, and the exchange of keys.
struct K46CurveEncryptionTests {
    /// Made by other code than ours, in the layout in which Apple's devices write.
    private struct Vector: Decodable {
        let algorithm, curve: String
        let staticPrivateX963, ephemeralPublic, sharedX, kdfOutput, iv, plaintext, ciphertext, applicationLabel: String
    }

    private static func vectors() throws -> [Vector] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode([Vector].self, from: Data(contentsOf: Repository.file("Tests/Vectors/ecies.json")))
    }

    private func key(_ vector: Vector) throws -> SecKey {
        try SecKey.read(
            Data(hex: vector.staticPrivateX963), kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate)
    }

    /// The hash, and whether the nonce is derived.
    private func scheme(_ vector: Vector) throws -> (hash: Hash, variable: Bool) {
        let hash = try #require(Hash.all.first { vector.algorithm.contains("X963\($0)AESGCM") })
        return (hash, vector.algorithm.contains("VariableIV"))
    }

    @Test("K.46 What others encrypted decrypts, under either name of the algorithm")
    func vectors() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count == 27)
        for vector in vectors {
            let (hash, variable) = try scheme(vector)
            let (key, cipher) = (try key(vector), Data(hex: vector.ciphertext))
            for name in ["ECDH", "ECDHC"] {
                let plain = try key.decrypt(cipher, hash.ecies(name, variable: variable))
                #expect(plain == bytes(vector.plaintext), "\(vector.algorithm) \(vector.curve)")
            }
            #expect(cipher.count == key.blockSize * 2 + 1 + vector.plaintext.utf8.count + 16)
            #expect(try key.attributes["klbl"] as? Data == Data(hex: vector.applicationLabel))
        }
    }

    @Test("K.46 The secret and the bytes derived from it are those of the vectors")
    func steps() throws {
        for vector in try Self.vectors() {
            let key = try key(vector)
            let point = Data(hex: vector.ephemeralPublic)
            let peer = try SecKey.read(point, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPublic)
            #expect(try key.agree(with: peer, .ecdhKeyExchangeStandard) == Data(hex: vector.sharedX))
            let expected = Data(hex: vector.kdfOutput)
            let derived = try key.agree(
                with: peer, try scheme(vector).hash.exchange(), parameters(expected.count, info: point))
            #expect(derived == expected, "\(vector.algorithm) \(vector.curve)")
        }
    }

    @Test("K.47 Every algorithm goes with every curve, and both names are one", arguments: Pair.curves, Hash.all)
    func roundTrip(pair: Pair, hash: Hash) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        for variable in hash.hasVariableECIES ? [false, true] : [false] {
            for (mine, theirs) in [("ECDH", "ECDHC"), ("ECDHC", "ECDH"), ("ECDH", "ECDH")] {
                for count in [0, 1, 100] {
                    let plain = Data(repeating: 3, count: count)
                    let cipher = try half.encrypt(plain, hash.ecies(mine, variable: variable))
                    #expect(cipher.count == 1 + 2 * key.blockSize + count + 16)
                    #expect(try key.decrypt(cipher, hash.ecies(theirs, variable: variable)) == plain)
                }
            }
        }
        let one = try half.encrypt(bytes("text"), hash.ecies(variable: false))
        #expect(try half.encrypt(bytes("text"), hash.ecies(variable: false)) != one)
        guard hash.hasVariableECIES else {
            #expect(throws: Failure.parameter) { try key.decrypt(one, hash.ecies(variable: true)) }
            return
        }
        let other = try half.encrypt(bytes("text"), hash.ecies(variable: true))
        #expect(throws: Failure.parameter) { try key.decrypt(other, hash.ecies(variable: false)) }
        #expect(throws: Failure.parameter) { try key.decrypt(one, hash.ecies(variable: true)) }
    }

    @Test("K.47 A megabyte is encrypted too")
    func long() throws {
        let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
        let plain = Data(repeating: 0x11, count: 1 << 20)
        #expect(try Pair.p256.key.decrypt(try Pair.p256.publicKey.encrypt(plain, algorithm), algorithm) == plain)
    }

    @Test("K.48 Every change of a ciphertext is noticed", arguments: Pair.curves)
    func changes(pair: Pair) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        let point = 1 + 2 * key.blockSize
        for variable in [false, true] {
            let algorithm = Hash.sha256.ecies(variable: variable)
            let cipher = try half.encrypt(bytes("a secret"), algorithm)
            for place in [0, 1, key.blockSize, point - 1, point, point + 7, point + 8, point + 23] {
                #expect(throws: Failure.parameter, "\(place)") { try key.decrypt(cipher.flipping(place), algorithm) }
            }
            let other = try SecKey.make(pair.type, pair.bits)
            #expect(throws: Failure.parameter) { try other.decrypt(cipher, algorithm) }
            let wrong = [
                Data(), Data(count: 80), cipher.prefix(point), cipher.prefix(point + 15), cipher.dropLast(),
                cipher + Data([0]), Data(count: point + 16), try half.bytes + Data(count: 16),
            ]
            for wrong in wrong {
                #expect(throws: Failure.parameter) { try key.decrypt(Data(wrong), algorithm) }
            }
            #expect(throws: Failure.parameter) { try key.encrypt(bytes("text"), algorithm) }
            #expect(throws: Failure.parameter) { try half.decrypt(cipher, algorithm) }
            #expect(throws: Failure.parameter) { try Pair.rsa1024.publicKey.encrypt(bytes("text"), algorithm) }
        }
    }

    // MARK: Exchange

    private func parameters(_ size: Any, info: Any? = nil) -> Item {
        var parameters: Item = [SecKeyKeyExchangeParameter.requestedSize.rawValue: size]
        if let info { parameters[SecKeyKeyExchangeParameter.sharedInfo.rawValue] = info }
        return parameters
    }

    @Test("K.49 Both sides agree, also with OpenSSL", arguments: Pair.curves)
    func agreement(pair: Pair) throws {
        let other = try SecKey.make(pair.type, pair.bits)
        let theirs = OpenSSL.publicKeyInfo(point: try other.publicKey.bytes)
        for plain in [SecKeyAlgorithm.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactor] {
            let secret = try pair.key.agree(with: other.publicKey, plain)
            #expect(secret.count == pair.key.blockSize)
            #expect(try other.agree(with: pair.publicKey, plain) == secret)
            #expect(try OpenSSL.agree(pair.openSSLPrivate, with: theirs) == secret)
            // Without a derivation parameters say nothing.
            #expect(try other.agree(with: pair.publicKey, plain, parameters("many", info: 1)) == secret)
        }
    }

    @Test("K.49 The secret is that of swift-crypto, with and without a derivation")
    func swiftCrypto() throws {
        let info = bytes("both know this")
        func expect(
            _ pair: Pair, _ secret: (Data, Data) throws -> SharedSecret, at location: SourceLocation = #_sourceLocation
        ) throws {
            let other = try SecKey.make(pair.type, pair.bits)
            let secret = try secret(pair.key.bytes, other.publicKey.bytes)
            let plain = try pair.key.agree(with: other.publicKey, .ecdhKeyExchangeStandard)
            #expect(secret.withUnsafeBytes { Data($0) } == plain, sourceLocation: location)
            let derived = secret.x963DerivedSymmetricKey(using: SHA384.self, sharedInfo: info, outputByteCount: 100)
            let ours = try other.agree(
                with: pair.publicKey, .ecdhKeyExchangeCofactorX963SHA384, parameters(100, info: info))
            #expect(derived.withUnsafeBytes { Data($0) } == ours, sourceLocation: location)
        }
        try expect(.p256) {
            try P256.KeyAgreement.PrivateKey(x963Representation: $0)
                .sharedSecretFromKeyAgreement(with: .init(x963Representation: $1))
        }
        try expect(.p384) {
            try P384.KeyAgreement.PrivateKey(x963Representation: $0)
                .sharedSecretFromKeyAgreement(with: .init(x963Representation: $1))
        }
        try expect(.p521) {
            try P521.KeyAgreement.PrivateKey(x963Representation: $0)
                .sharedSecretFromKeyAgreement(with: .init(x963Representation: $1))
        }
    }

    @Test("K.49 OpenSSL derives the same bytes, whatever their number", arguments: Hash.all, [Data(), bytes("info")])
    func derivation(hash: Hash, info: Data) throws {
        let peer = try SecKey.make(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let secret = try Pair.p256.key.agree(with: peer.publicKey, .ecdhKeyExchangeStandard)
        for size in [1, 16, 32, 100] {
            let expected = try OpenSSL.derive(hash.description, from: secret, info: info, count: size)
            for kind in ["ECDH", "ECDHC"] {
                let ours = try Pair.p256.key.agree(
                    with: peer.publicKey, hash.exchange(kind), parameters(size, info: info))
                #expect(ours == expected)
            }
        }
        let without = try OpenSSL.derive(hash.description, from: secret, info: Data(), count: 32)
        #expect(try Pair.p256.key.agree(with: peer.publicKey, hash.exchange(), parameters(32)) == without)
    }

    @Test("K.50 A derivation needs a size, and shared information is data")
    func wrongParameters() throws {
        let (key, peer) = (Pair.p256.key, try SecKey.make(kSecAttrKeyTypeECSECPrimeRandom, 256).publicKey)
        let wrong: [Item] = [
            [:], parameters("32"), parameters(-1), parameters(1.5), parameters(1 << 40), parameters(Data([32])),
            parameters(32, info: "text"), parameters(32, info: 1),
            [SecKeyKeyExchangeParameter.sharedInfo.rawValue: bytes("info")],
        ]
        for parameters in wrong {
            #expect(throws: Failure.parameter, "\(parameters.summary)") {
                try key.agree(with: peer, .ecdhKeyExchangeStandardX963SHA256, parameters)
            }
        }
    }

    @Test("K.50 The other side's key is a public one on the same curve", arguments: Pair.curves)
    func wrongPeers(pair: Pair) throws {
        let algorithms: [SecKeyAlgorithm] = [.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactorX963SHA256]
        for algorithm in algorithms {
            for other in Pair.curves where other != pair {
                #expect(throws: Failure.decode) {
                    try pair.key.agree(with: other.publicKey, algorithm, parameters(16))
                }
            }
            for wrong in [pair.key, try Pair.rsa1024.publicKey] {
                #expect(throws: Failure.parameter) { try pair.key.agree(with: wrong, algorithm, parameters(16)) }
            }
            for own in [try pair.publicKey, Pair.rsa1024.key] {
                #expect(throws: Failure.parameter) { try own.agree(with: pair.publicKey, algorithm, parameters(16)) }
            }
        }
    }
}
