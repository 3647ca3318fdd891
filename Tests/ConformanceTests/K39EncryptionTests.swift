import Crypto
import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K39 to K45: encryption with RSA.
struct K39EncryptionTests {
    private static let pairs: [Pair] = [.rsa1024, .rsa2048]

    @Test("K.39 K.40 K.41 OAEP takes as much as fits, and OpenSSL computes the same", arguments: pairs, Hash.all)
    func oaep(pair: Pair, hash: Hash) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        let most = key.blockSize - 2 * hash.count - 2
        guard most >= 0 else {
            #expect(pair == .rsa1024 && hash.count == 64)
            #expect(!half.supports(.encrypt, hash.oaep) && !key.supports(.decrypt, hash.oaep))
            #expect(throws: Failure.parameter) { try half.encrypt(Data(), hash.oaep) }
            #expect(throws: Failure.parameter) { try key.decrypt(Data(count: 128), hash.oaep) }
            return
        }
        for count in [0, 1, most] {
            let plain = Data(repeating: 0xab, count: count)
            let cipher = try half.encrypt(plain, hash.oaep)
            #expect(cipher.count == key.blockSize)
            #expect(try half.encrypt(plain, hash.oaep) != cipher)
            #expect(try key.decrypt(cipher, hash.oaep) == plain)
            #expect(try OpenSSL.decrypt(cipher, with: pair.openSSLPrivate, hash.oaepOptions) == plain)
            let theirs = try OpenSSL.encrypt(plain, to: pair.openSSLPublic, hash.oaepOptions)
            #expect(try key.decrypt(theirs, hash.oaep) == plain)
        }
        #expect(throws: Failure.parameter) { try half.encrypt(Data(count: most + 1), hash.oaep) }
    }

    @Test("K.42 PKCS#1's padding takes eleven bytes, and is another each time", arguments: pairs)
    func pkcs1(pair: Pair) throws {
        let (key, half, padding) = (pair.key, try pair.publicKey, SecKeyAlgorithm.rsaEncryptionPKCS1)
        for count in [0, 1, key.blockSize - 11] {
            let plain = Data(repeating: 1, count: count)
            let cipher = try half.encrypt(plain, padding)
            #expect(try half.encrypt(plain, padding) != cipher)
            #expect(try key.decrypt(cipher, padding) == plain)
            let options = ["rsa_padding_mode:pkcs1"]
            #expect(try OpenSSL.decrypt(cipher, with: pair.openSSLPrivate, options) == plain)
            #expect(try key.decrypt(try OpenSSL.encrypt(plain, to: pair.openSSLPublic, options), padding) == plain)
        }
        #expect(throws: Failure.parameter) { try half.encrypt(Data(count: key.blockSize - 10), padding) }
    }

    @Test("K.43 Without padding each direction undoes the other, and nothing is left out", arguments: pairs)
    func raw(pair: Pair) throws {
        let (key, half, raw) = (pair.key, try pair.publicKey, SecKeyAlgorithm.rsaEncryptionRaw)
        for plain in [Data(count: 5) + Data(repeating: 9, count: key.blockSize - 5), bytes("short"), Data([0]), Data()]
        {
            let cipher = try half.encrypt(plain, raw)
            #expect(cipher.count == key.blockSize)
            let whole = Data(count: key.blockSize - plain.count) + plain
            #expect(try key.decrypt(cipher, raw) == whole)
            #expect(try half.encrypt(plain, raw) == cipher)
            #expect(try OpenSSL.encrypt(whole, to: pair.openSSLPublic, ["rsa_padding_mode:none"]) == cipher)
        }
        #expect(throws: Failure.parameter) { try half.encrypt(Data(repeating: 0xff, count: key.blockSize), raw) }
        #expect(throws: Failure.parameter) { try half.encrypt(Data(count: key.blockSize + 1), raw) }
        #expect(throws: Failure.parameter) { try key.decrypt(Data(repeating: 0xff, count: key.blockSize), raw) }
    }

    @Test("K.44 An envelope takes any number of bytes, and notices every change", arguments: Hash.all)
    func envelope(hash: Hash) throws {
        let (key, half) = (Pair.rsa2048.key, try Pair.rsa2048.publicKey)
        for count in [0, 1, 17, 1 << 20] {
            let plain = Data(repeating: 0x5a, count: count)
            let cipher = try half.encrypt(plain, hash.envelope)
            #expect(cipher.count == 256 + count + 16)
            #expect(try key.decrypt(cipher, hash.envelope) == plain)
        }
        let cipher = try half.encrypt(bytes("a secret"), hash.envelope)
        for place in [0, 100, 255, 256, 260, 264, 279] {
            #expect(throws: Failure.parameter, "\(place)") { try key.decrypt(cipher.flipping(place), hash.envelope) }
        }
        for wrong in [
            Data(), cipher.prefix(255), cipher.prefix(256), cipher.prefix(271), cipher.dropLast(), cipher + [0],
        ] {
            #expect(throws: Failure.parameter) { try key.decrypt(Data(wrong), hash.envelope) }
        }
    }

    @Test(
        "K.44 Within an envelope is AES-GCM with a nonce of zeros, and the public key is authenticated",
        arguments: [(Pair.rsa1024, 16), (.rsa2048, 16), (.rsa4096, 32)])
    func layout(pair: Pair, sessionSize: Int) throws {
        let (key, half, hash) = (pair.key, try pair.publicKey, Hash.sha256)
        let plain = bytes("Who reads this?")
        let nonce = try AES.GCM.Nonce(data: Data(count: 16))
        func opened(_ cipher: Data) throws -> Data {
            let (wrapped, rest) = (Data(cipher.prefix(key.blockSize)), cipher.dropFirst(key.blockSize))
            let session = try key.decrypt(wrapped, hash.oaep)
            #expect(session.count == sessionSize)
            let box = try AES.GCM.SealedBox(nonce: nonce, ciphertext: rest.dropLast(16), tag: rest.suffix(16))
            return try AES.GCM.open(box, using: SymmetricKey(data: session), authenticating: half.bytes)
        }
        #expect(try opened(half.encrypt(plain, hash.envelope)) == plain)
        /// An envelope by other hands than ours.
        func made(sessionSize: Int, additional: Data) throws -> Data {
            let session = Data((0..<sessionSize).map { UInt8($0) })
            let wrapped = try OpenSSL.encrypt(session, to: pair.openSSLPublic, hash.oaepOptions)
            let box = try AES.GCM.seal(
                plain, using: SymmetricKey(data: session), nonce: nonce, authenticating: additional)
            return wrapped + box.ciphertext + box.tag
        }
        #expect(try key.decrypt(made(sessionSize: sessionSize, additional: half.bytes), hash.envelope) == plain)
        for (size, additional) in [(48 - sessionSize, try half.bytes), (sessionSize, Data())] {
            let other = try made(sessionSize: size, additional: additional)
            #expect(throws: Failure.parameter) { try key.decrypt(other, hash.envelope) }
        }
    }

    @Test("K.45 What has another length than the modulus does not decrypt", arguments: pairs)
    func wrongLength(pair: Pair) throws {
        let paddings: [SecKeyAlgorithm] = [.rsaEncryptionRaw, .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1]
        for padding in paddings {
            let cipher = try pair.publicKey.encrypt(bytes("text"), padding)
            for wrong in [Data(), Data([1]), cipher.dropLast(), Data([0]) + cipher, cipher + Data([0])] {
                #expect(throws: Failure.parameter) { try pair.key.decrypt(Data(wrong), padding) }
            }
        }
    }

    @Test("K.71 A wrong padding of PKCS#1 is no error, and gives the same other bytes each time", arguments: pairs)
    func wrongPadding(pair: Pair) throws {
        // A block of another padding, zeros, and a flipped one.
        let size = pair.key.blockSize
        let oaep = try pair.publicKey.encrypt(bytes("text"), .rsaEncryptionOAEPSHA1)
        let right = try pair.publicKey.encrypt(bytes("text"), .rsaEncryptionPKCS1)
        for cipher in [oaep, Data(count: size), Data(count: size - 1) + [1], right.flipping(size - 1)] {
            let plain = try pair.key.decrypt(cipher, .rsaEncryptionPKCS1)
            #expect(plain != bytes("text") && plain.count <= size - 11)
            #expect(try pair.key.decrypt(cipher, .rsaEncryptionPKCS1) == plain)
        }
    }

    @Test("K.57 Only public halves encrypt, and only private ones decrypt", arguments: pairs)
    func halves(pair: Pair) throws {
        for algorithm in [SecKeyAlgorithm.rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA1AESGCM, .rsaEncryptionPKCS1] {
            let cipher = try pair.publicKey.encrypt(bytes("text"), algorithm)
            #expect(throws: Failure.parameter) { try pair.key.encrypt(bytes("text"), algorithm) }
            #expect(throws: Failure.parameter) { try pair.publicKey.decrypt(cipher, algorithm) }
            #expect(throws: Failure.parameter) { try Pair.p256.publicKey.encrypt(bytes("text"), algorithm) }
            #expect(throws: Failure.parameter) { try Pair.p256.key.decrypt(cipher, algorithm) }
        }
    }

    @Test("K.57 Whatever is wrong with a ciphertext, the error has one text")
    func oneText() throws {
        let key = Pair.rsa1024.key
        func text(_ bytes: Data, _ algorithm: SecKeyAlgorithm) throws -> String {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateDecryptedData(key, algorithm, bytes as NSData, &error) == nil)
            return try #require(error).takeRetainedValue().localizedDescription
        }
        for algorithm in [SecKeyAlgorithm.rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA256AESGCM] {
            let cipher = try Pair.rsa1024.publicKey.encrypt(bytes("text"), algorithm)
            let wrong = [Data(), cipher.flipping(3), cipher.flipping(cipher.count - 1), Data(cipher.dropLast())]
            #expect(Set(try wrong.map { try text($0, algorithm) }).count == 1)
        }
    }
}
