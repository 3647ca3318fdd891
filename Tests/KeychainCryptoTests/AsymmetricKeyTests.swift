import Crypto
import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainCrypto
@testable import KeychainKeys

/// Keys below `SecKey`: forms at their limits. What keys compute is case K of the conformance tests.
@Suite struct AsymmetricKeyTests {
    private func expectRefused(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Any) {
        let error = #expect(throws: KeychainError.self, sourceLocation: location) { _ = try body() }
        #expect(error?.code == .parameter, sourceLocation: location)
    }

    @Test("Digests are those of OpenSSL", arguments: DigestAlgorithm.allCases)
    func digests(algorithm: DigestAlgorithm) throws {
        for count in [0, 1, 55, 56, 111, 112, 128, 1000] {
            let bytes = Data((0..<count).map { UInt8($0 & 0xff) })
            let digest = algorithm.digest(of: bytes)
            #expect(digest.count == algorithm.byteCount)
            #expect(try digest == OpenSSL.digest(algorithm.rawValue.lowercased(), of: bytes))
        }
        // Of a part of data as well, whose indices do not begin at zero.
        let part = Data([9, 1, 2, 3]).dropFirst()
        #expect(algorithm.digest(of: part) == algorithm.digest(of: Data([1, 2, 3])))
    }

    @Test("Every algorithm is found by its name")
    func names() {
        for algorithm in KeyAlgorithm.all { #expect(KeyAlgorithm.byName[algorithm.name] == algorithm) }
        #expect(KeyAlgorithm.byName.count == KeyAlgorithm.all.count + 1)
    }

    @Test(
        "The numbers of a signature are written in as few bytes as there are, and read with their zeros",
        arguments: [
            ("00000001" + "00000001", "3006" + "020101" + "020101"),
            ("0000007f" + "00000080", "3007" + "02017f" + "02020080"),
            ("ffffffff" + "7fffffff", "300d" + "020500ffffffff" + "02047fffffff"),
            ("00000000" + "00800000", "3009" + "020100" + "020400800000"),
        ])
    func signatures(numbers: String, der: String) {
        #expect(ECDSASignature.der(Data(hex: numbers)) == Data(hex: der))
        #expect(ECDSASignature.numbers(inDER: Data(hex: der), fieldByteCount: 4) == Data(hex: numbers))
    }

    @Test(
        "Any other DER is no signature",
        arguments: [
            "", "30", "3000", "3003020101", "3006020101", "3009020101020101020101", "3106020101020101",
            "3006020101020101" + "00", "3006020181020101", "300702020001020101", "30050200020101",
            "308106020101020101", "300c0205010000000002047fffffff", "3006020101040101", "30800201010201010000",
        ])
    func otherDER(der: String) {
        #expect(ECDSASignature.numbers(inDER: Data(hex: der), fieldByteCount: 4) == nil)
    }

    @Test("Bytes are derived up to a limit, and none too", arguments: DigestAlgorithm.allCases)
    func derivation(algorithm: DigestAlgorithm) throws {
        let most = X963KeyDerivation.mostBytes
        func derive(_ count: Int) throws -> Data {
            try X963KeyDerivation.derive(from: Data([1]), sharedInfo: Data([2]), count: count, algorithm)
        }
        #expect(try derive(0) == Data())
        #expect(try derive(most).count == most)
        #expect(try derive(most).prefix(100) == (try derive(100)))
        for count in [-1, most + 1, .max, .min] { expectRefused { try derive(count) } }
    }

    @Test("A small private number keeps its zeros", arguments: Curve.allCases)
    func smallNumber(curve: Curve) throws {
        // The number 1, whose point is the curve's generator.
        let generator: String =
            switch curve {
            case .p256:
                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                    + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
            case .p384:
                "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
                    + "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"
            case .p521:
                "00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ff"
                    + "a8de3348b3c1856a429bf97e7e31c2e5bd66"
                    + "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad"
                    + "0761353c7086a272c24088be94769fd16650"
            }
        let bytes =
            Data([4]) + Data(hex: generator) + Data(count: curve.fieldByteCount - 1) + Data([1])
        let key = try ECKey(curve, privateBytes: SecretBytes(copying: bytes))
        #expect(key.privateBytes?.copyData() == bytes)
        // Agreeing with it gives the peer's own coordinate.
        let peer = try ECKey(generating: curve)
        #expect(try key.sharedSecret(with: peer) == peer.point.dropFirst().prefix(curve.fieldByteCount))
    }

    @Test("A common secret and a signature have the field's size, whatever they begin with")
    func leadingZeros() throws {
        let key = try ECKey(generating: .p256)
        var (secretCount, signatureCount) = (0, 0)
        // One in 256 begins with a zero. That none of so many does has a chance of 10⁻¹⁷.
        for _ in 0..<10_000 where secretCount == 0 || signatureCount == 0 {
            let peer = try ECKey(generating: .p256)
            let secret = try key.sharedSecret(with: peer)
            if secret.first == 0 {
                secretCount += 1
                #expect(secret.count == 32)
                #expect(try peer.sharedSecret(with: key) == secret)
            }
            let signature = try key.signature(ofDigest: Data([1]))
            if signature[0] == 0 || signature[32] == 0 {
                signatureCount += 1
                #expect(signature.count == 64)
                let der = ECDSASignature.der(signature)
                #expect(ECDSASignature.numbers(inDER: der, fieldByteCount: 32) == signature)
                let info = OpenSSL.publicKeyInfo(point: key.point)
                #expect(try OpenSSL.isSignature(der, of: Data([1]) + Data(count: 31), by: info, []) == false)
                #expect(key.isSignature(signature, ofDigest: Data([1])))
            }
        }
        #expect(secretCount > 0 && signatureCount > 0)
    }

    @Test("A public half neither signs nor agrees")
    func publicHalf() throws {
        let key = try ECKey(generating: .p256)
        let half = try key.publicHalf
        #expect(half.privateBytes == nil && !half.isPrivate)
        expectRefused { try half.signature(ofDigest: Data(count: 32)) }
        expectRefused { try half.sharedSecret(with: key) }
        expectRefused { try key.sharedSecret(with: try ECKey(generating: .p384)) }
        let rsa = try RSAKey(generating: 1024)
        let public1024 = try rsa.publicHalf
        #expect(public1024.privateBytes == nil && !public1024.isPrivate)
        expectRefused { try public1024.signature(ofDigest: Data(count: 32), .sha256) }
        expectRefused { try public1024.decrypt(Data(count: 128), RSAKey.Padding.none) }
    }

    @Test("An RSA key that is made has just the size asked for, and the usual exponent")
    func sizesOfRSA() throws {
        for bits in [512, 640, 1024, 1152] {
            let key = try RSAKey(generating: bits)
            #expect(key.bitCount == bits && key.blockByteCount == bits / 8)
            #expect(key.publicBytes.suffix(5) == Data([2, 3, 1, 0, 1]))
        }
        for bits in [0, -512, 384, 511, 520, 1000, 8320, .max] { expectRefused { try RSAKey(generating: bits) } }
    }

    @Test("The keys of an engine and of a process compute through the same two operations")
    func anyPlace() throws {
        /// A key somewhere else, as the engine's is.
        struct Elsewhere: CurvePrivateKey {
            let key: ECKey
            var curve: Curve { key.curve }
            var point: Data { key.point }
            func signature(ofDigest digest: Data) throws(KeychainError) -> Data {
                try key.signature(ofDigest: digest)
            }
            func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data { try key.sharedSecret(with: peer) }
        }
        for curve in Curve.allCases {
            let key = Elsewhere(key: try ECKey(generating: curve))
            let half = try key.key.publicHalf
            let signature = try key.sign(Data([1]), .ecdsa(.x962, .message, .sha256))
            #expect(try half.verify(signature, of: Data([1]), .ecdsa(.x962, .message, .sha256)))
            let scheme = ECIES(digest: .sha256, isCofactor: false, derivesNonce: true)
            #expect(try scheme.decrypt(try scheme.encrypt(Data([5]), to: half), with: key) == Data([5]))
        }
    }
}
