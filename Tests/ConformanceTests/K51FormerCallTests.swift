import Dispatch
import Foundation
import KeychainSecurity
import KeychainTestSupport
import Synchronization
import Testing

/// K51 and K54: the calls of older programs, and many threads.
struct K51FormerCallTests {
    private static let named: [(SecPadding, Hash)] = zip(
        [.PKCS1SHA1, .PKCS1SHA224, .PKCS1SHA256, .PKCS1SHA384, .PKCS1SHA512] as [SecPadding], Hash.all
    ).map { ($0, $1) }

    @Test("K.51 An RSA key signs with the paddings that it has", arguments: [Pair.rsa1024, .rsa2048])
    func rsaPaddings(pair: Pair) throws {
        let (key, half, room) = (pair.key, try pair.publicKey, pair.key.blockSize)
        let raw: [(SecPadding, SecKeyAlgorithm, Data)] = [
            ([], .rsaSignatureRaw, bytes("number")),
            (.PKCS1, .rsaSignatureDigestPKCS1v15Raw, bytes("anything")),
        ]
        let digests = Self.named.map { ($0, $1.pkcs1(.digest), Data(repeating: 1, count: $1.count)) }
        for (padding, algorithm, digest) in raw + digests {
            let (status, signature) = former.sign(key, padding, digest, room: room)
            #expect(status == errSecSuccess)
            #expect(signature == (try key.sign(digest, algorithm)))
            #expect(former.verify(half, padding, digest, signature) == errSecSuccess)
            #expect(former.verify(half, padding, digest, signature.flipping(9)) == errSSLCrypto)
            #expect(former.verify(half, padding, digest.flipping(0), signature) == errSSLCrypto)
            #expect(former.sign(key, padding, digest, room: room - 1).0 == errSecParam)
            #expect(former.sign(half, padding, digest, room: room).0 == errSecParam)
            #expect(former.verify(key, padding, digest, signature) == errSecParam)
        }
        for (padding, hash) in Self.named {
            #expect(former.sign(key, padding, Data(count: hash.count - 1), room: room).0 == errSecParam)
        }
        for padding in [SecPadding.PKCS1MD2, .PKCS1MD5, .OAEP, .sigRaw, SecPadding(rawValue: 0x8007)] {
            #expect(former.sign(key, padding, Data(count: 16), room: room).0 == errSecParam)
            #expect(former.verify(half, padding, Data(count: 16), Data(count: room)) == errSecParam)
        }
    }

    @Test("K.51 A key on a curve signs the bytes as they are, whatever the padding says", arguments: Pair.curves)
    func curvePaddings(pair: Pair) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        let der: [SecPadding] = [
            [], .PKCS1, .PKCS1MD2, .PKCS1MD5, .PKCS1SHA1, .PKCS1SHA224, .PKCS1SHA256, .PKCS1SHA384, .PKCS1SHA512,
        ]
        for count in [16, 20, 28, 32, 48, 64] {
            let digest = Data(repeating: 5, count: count)
            for padding in der {
                let (status, signature) = former.sign(key, padding, digest, room: 200)
                #expect(status == errSecSuccess)
                try half.verify(signature, of: digest, .ecdsaSignatureDigestX962)
                #expect(former.verify(half, padding, digest, signature) == errSecSuccess)
                #expect(former.verify(half, padding, digest, signature.flipping(signature.count - 1)) == errSSLCrypto)
            }
            let (status, signature) = former.sign(key, .sigRaw, digest, room: 2 * key.blockSize)
            #expect(status == errSecSuccess && signature.count == 2 * key.blockSize)
            try half.verify(signature, of: digest, .ecdsaSignatureDigestRFC4754)
            #expect(former.verify(half, .sigRaw, digest, signature) == errSecSuccess)
            #expect(former.verify(half, .sigRaw, digest, Data(count: 63)) == errSSLCrypto)
            #expect(former.sign(key, .sigRaw, digest, room: 2 * key.blockSize - 1).0 == errSecParam)
        }
        for padding: SecPadding in [[], .PKCS1, .OAEP] {
            #expect(former.encrypt(half, padding, bytes("a"), room: 200).0 == errSecParam)
            #expect(former.decrypt(key, padding, Data(count: 100), room: 200).0 == errSecParam)
        }
    }

    @Test(
        "K.51 RSA encrypts into a buffer, and decrypts without the zeros in front", arguments: [Pair.rsa1024, .rsa2048])
    func encryption(pair: Pair) throws {
        let (key, half, room) = (pair.key, try pair.publicKey, pair.key.blockSize)
        for padding: SecPadding in [[], .PKCS1, .OAEP] {
            let plain = bytes("plain text")
            let (status, cipher) = former.encrypt(half, padding, plain, room: room)
            #expect(status == errSecSuccess && cipher.count == room)
            #expect(former.decrypt(key, padding, cipher, room: room) == (errSecSuccess, plain))
            #expect(former.decrypt(key, padding, cipher, room: plain.count) == (errSecSuccess, plain))
            #expect(former.decrypt(key, padding, cipher, room: plain.count - 1).0 == errSecParam)
            #expect(former.encrypt(half, padding, plain, room: room - 1).0 == errSecParam)
            #expect(former.encrypt(half, padding, Data(count: room + 1), room: room).0 == errSecParam)
            #expect(former.encrypt(key, padding, plain, room: room).0 == errSecParam)
            #expect(former.decrypt(half, padding, cipher, room: room).0 == errSecParam)
            #expect(former.decrypt(key, padding, Data(count: room - 1), room: room).0 == errSecParam)
        }
        let (_, cipher) = former.encrypt(half, .OAEP, bytes("text"), room: room)
        #expect(try key.decrypt(cipher, .rsaEncryptionOAEPSHA1) == bytes("text"))
        for padding in [SecPadding.sigRaw, .PKCS1SHA1, SecPadding(rawValue: 4)] {
            #expect(former.encrypt(half, padding, bytes("a"), room: room).0 == errSecParam)
        }
    }

    @Test("K.54 A key is used from many threads at once", arguments: [Pair.rsa1024] + Pair.curves)
    func threads(pair: Pair) throws {
        let half = try pair.publicKey
        let (signature, encryption): (SecKeyAlgorithm, SecKeyAlgorithm) =
            pair.isCurve
            ? (.ecdsaSignatureMessageX962SHA256, .eciesEncryptionStandardX963SHA256AESGCM)
            : (.rsaSignatureMessagePSSSHA256, .rsaEncryptionOAEPSHA1)
        let failures = Mutex<[String]>([])
        // Read anew, so that all threads are there at the first use.
        let key = try SecKey.read(pair.key.bytes, pair.type, kSecAttrKeyClassPrivate)
        DispatchQueue.concurrentPerform(iterations: 32) { number in
            do {
                let text = bytes("\(number)")
                try half.verify(try key.sign(text, signature), of: text, signature)
                #expect(try key.decrypt(try half.encrypt(text, encryption), encryption) == text)
                #expect(try key.publicKey == half)
                #expect(try key.attributes.count > 20)
            } catch { failures.withLock { $0.append("\(number): \(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test("K.54 Equal keys are one member of a set")
    func sets() throws {
        var keys: Set<SecKey> = []
        for pair in [Pair.rsa1024, .p256, .p384, .p256] {
            keys.insert(pair.key)
            keys.insert(try SecKey.read(pair.key.bytes, pair.type, kSecAttrKeyClassPrivate))
            keys.insert(try pair.publicKey)
            keys.insert(try SecKey.read(pair.publicKey.bytes, pair.type, kSecAttrKeyClassPublic))
        }
        #expect(keys.count == 6)
        let dictionary: NSDictionary = [Pair.p256.key: "found"]
        #expect(
            dictionary[try SecKey.read(Pair.p256.key.bytes, Pair.p256.type, kSecAttrKeyClassPrivate)] as? String
                == "found")
    }
}
