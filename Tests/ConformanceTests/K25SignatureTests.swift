import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K25 to K38: signatures. OpenSSL is the witness, in both directions.
struct K25SignatureTests {
    private let message = bytes("What is signed")

    private func expectFails(
        _ failure: Failure, _ key: SecKey, _ signature: Data, of bytes: Data, _ algorithm: SecKeyAlgorithm,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: failure, "\(algorithm.rawValue)", sourceLocation: location) {
            try key.verify(signature, of: bytes, algorithm)
        }
    }

    // MARK: RSA

    @Test("K.25 K.26 PKCS#1 signatures are the same each time, and OpenSSL's", arguments: Hash.all)
    func pkcs1(hash: Hash) throws {
        let digest = try hash.digest(of: message)
        for pair in [Pair.rsa1024, .rsa2048] {
            let signature = try pair.key.sign(message, hash.pkcs1(.message))
            #expect(signature.count == pair.key.blockSize)
            #expect(try pair.key.sign(message, hash.pkcs1(.message)) == signature)
            #expect(try pair.key.sign(digest, hash.pkcs1(.digest)) == signature)
            #expect(try OpenSSL.sign(digest, with: pair.openSSLPrivate, hash.pkcs1Options) == signature)
            try pair.publicKey.verify(signature, of: message, hash.pkcs1(.message))
            try pair.publicKey.verify(signature, of: digest, hash.pkcs1(.digest))
        }
    }

    @Test("K.26 K.28 PSS has a salt as long as the digest, also with SHA-224", arguments: Hash.all)
    func pss(hash: Hash) throws {
        let pair = Pair.rsa2048
        let digest = try hash.digest(of: message)
        let (key, half) = (pair.key, try pair.publicKey)
        let ours = try key.sign(message, hash.pss(.message))
        #expect(try key.sign(message, hash.pss(.message)) != ours)
        for signature in [ours, try key.sign(digest, hash.pss(.digest))] {
            try half.verify(signature, of: message, hash.pss(.message))
            try half.verify(signature, of: digest, hash.pss(.digest))
            #expect(try OpenSSL.isSignature(signature, of: digest, by: pair.openSSLPublic, hash.pssOptions))
            for salt in [0, hash.count - 4, hash.count + 1] {
                let options = hash.pssOptions(salt: salt)
                #expect(try !OpenSSL.isSignature(signature, of: digest, by: pair.openSSLPublic, options))
            }
        }
        let theirs = try OpenSSL.sign(digest, with: pair.openSSLPrivate, hash.pssOptions)
        try half.verify(theirs, of: message, hash.pss(.message))
        for salt in [0, hash.count - 4] {
            let other = try OpenSSL.sign(digest, with: pair.openSSLPrivate, hash.pssOptions(salt: salt))
            expectFails(.verifyFailed, half, other, of: message, hash.pss(.message))
        }
    }

    @Test("K.29 PSS needs a modulus that has room for digest and salt")
    func roomForPSS() throws {
        let (key, half) = (Pair.rsa1024.key, try Pair.rsa1024.publicKey)
        for hash in Hash.all {
            let fits = hash.count < 64
            for input in Hash.Input.allCases {
                #expect(key.supports(.sign, hash.pss(input)) == fits)
                #expect(half.supports(.verify, hash.pss(input)) == fits)
            }
            if fits {
                try half.verify(try key.sign(message, hash.pss(.message)), of: message, hash.pss(.message))
            } else {
                #expect(throws: Failure.parameter) { try key.sign(message, hash.pss(.message)) }
                expectFails(.parameter, half, Data(count: 128), of: message, hash.pss(.message))
            }
        }
    }

    @Test("K.56 A key of 512 bits has no room for the longer digests, which shows when it signs")
    func smallModulus() throws {
        let (key, half) = (Pair.rsa512.key, try Pair.rsa512.publicKey)
        for hash in Hash.all {
            #expect(key.supports(.sign, hash.pkcs1(.message)))
            // 11 bytes of padding and 19 of the function's name (15 with SHA-1).
            if hash.count + (hash.count == 20 ? 15 : 19) + 11 <= 64 {
                try half.verify(try key.sign(message, hash.pkcs1(.message)), of: message, hash.pkcs1(.message))
            } else {
                #expect(throws: Failure.parameter, "\(hash)") { try key.sign(message, hash.pkcs1(.message)) }
                expectFails(.verifyFailed, half, Data(count: 64), of: message, hash.pkcs1(.message))
            }
        }
    }

    @Test("K.35 Without padding the bytes are a number, signed and compared as one")
    func raw() throws {
        let pair = Pair.rsa1024
        let (key, half, raw) = (pair.key, try pair.publicKey, SecKeyAlgorithm.rsaSignatureRaw)
        let whole = Data(count: 3) + Data((0..<125).map { UInt8($0 + 1) })
        let signature = try key.sign(whole, raw)
        // OpenSSL signs digests alone; what it calls decrypting is the same power.
        #expect(try OpenSSL.decrypt(whole, with: pair.openSSLPrivate, ["rsa_padding_mode:none"]) == signature)
        #expect(try key.sign(Data(whole.dropFirst(3)), raw) == signature)
        try half.verify(signature, of: Data(whole.dropFirst(3)), raw)
        expectFails(.verifyFailed, half, signature, of: whole, raw)
        let short = bytes("short")
        try half.verify(try key.sign(short, raw), of: short, raw)
        #expect(try key.sign(short, raw).count == 128)
        for wrong in [Data(repeating: 0xff, count: 128), Data(count: 129)] {
            #expect(throws: Failure.parameter) { try key.sign(wrong, raw) }
        }
        for signature in [Data(repeating: 0xff, count: 128), Data(count: 127), Data(count: 129), Data()] {
            expectFails(.verifyFailed, half, signature, of: short, raw)
        }
    }

    @Test("K.36 PKCS#1's padding without the name of a digest takes up to eleven bytes less than the modulus")
    func paddedAlone() throws {
        let (key, half, padded) = (
            Pair.rsa1024.key, try Pair.rsa1024.publicKey, SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw
        )
        for count in [0, 1, 20, 117] {
            let bytes = Data(repeating: 7, count: count)
            try half.verify(try key.sign(bytes, padded), of: bytes, padded)
            expectFails(.verifyFailed, half, try key.sign(bytes, padded), of: bytes + Data([7]), padded)
        }
        #expect(throws: Failure.parameter) { try key.sign(Data(count: 118), padded) }
        // SEQUENCE { SEQUENCE { id-sha256, NULL }, digest }.
        let digest = try Hash.sha256.digest(of: message)
        let named = Data(hex: "3031300d060960864801650304020105000420") + digest
        #expect(try key.sign(named, padded) == (try key.sign(message, .rsaSignatureMessagePKCS1v15SHA256)))
        try half.verify(try key.sign(named, padded), of: digest, .rsaSignatureDigestPKCS1v15SHA256)
        try half.verify(try key.sign(message, .rsaSignatureMessagePKCS1v15SHA256), of: named, padded)
        // The same without NULL is no signature of the digest.
        let other = Data(hex: "302f300b0609608648016503040201") + Data([0x04, 0x20]) + digest
        expectFails(
            .verifyFailed, half, try key.sign(other, padded), of: digest, .rsaSignatureDigestPKCS1v15SHA256)
    }

    // MARK: Curves

    @Test("K.26 K.30 K.32 ECDSA goes with every digest on every curve, in both forms", arguments: Pair.curves, Hash.all)
    func ecdsa(pair: Pair, hash: Hash) throws {
        let digest = try hash.digest(of: message)
        let (key, half) = (pair.key, try pair.publicKey)
        let options = ["digest:\(hash.name)"]
        let ours = try key.sign(message, hash.x962(.message))
        for signature in [ours, try key.sign(digest, hash.x962(.digest))] {
            try half.verify(signature, of: message, hash.x962(.message))
            try half.verify(signature, of: digest, hash.x962(.digest))
            #expect(try OpenSSL.isSignature(signature, of: digest, by: pair.openSSLPublic, options))
        }
        let theirs = try OpenSSL.sign(digest, with: pair.openSSLPrivate, options)
        try half.verify(theirs, of: message, hash.x962(.message))
        // The other form is the two numbers alone.
        let numbers = try key.sign(message, hash.rfc4754(.message))
        #expect(numbers.count == 2 * pair.key.blockSize)
        try half.verify(numbers, of: digest, hash.rfc4754(.digest))
        try half.verify(try key.sign(digest, hash.rfc4754(.digest)), of: message, hash.rfc4754(.message))
        try half.verify(der(numbers), of: message, hash.x962(.message))
        #expect(try OpenSSL.isSignature(der(numbers), of: digest, by: pair.openSSLPublic, options))
        expectFails(.verifyFailed, half, numbers, of: message, hash.x962(.message))
        expectFails(.verifyFailed, half, ours, of: message, hash.rfc4754(.message))
    }

    /// SEQUENCE { r, s } of r ‖ s.
    private func der(_ numbers: Data) -> Data {
        let half = numbers.count / 2
        let integers = [numbers.prefix(half), numbers.suffix(half)].map { number in
            let digits = Data(number.drop { $0 == 0 })
            return OpenSSL.node(0x02, digits[0] < 0x80 ? digits : Data([0]) + digits)
        }
        return OpenSSL.node(0x30, integers[0] + integers[1])
    }

    @Test("K.31 Without a named digest any bytes are signed, as many of them as the curve has", arguments: Pair.curves)
    func untyped(pair: Pair) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        for count in [0, 1, 20, 28, 32, 48, 64] {
            let digest = Data((0..<count).map { UInt8($0 + 100) })
            let signature = try key.sign(digest, .ecdsaSignatureDigestX962)
            try half.verify(signature, of: digest, .ecdsaSignatureDigestX962)
            for rfc in [SecKeyAlgorithm.ecdsaSignatureDigestRFC4754, former.ecdsaRFC4754] {
                try half.verify(try key.sign(digest, rfc), of: digest, rfc)
            }
            if count > 1 {
                #expect(try OpenSSL.isSignature(signature, of: digest, by: pair.openSSLPublic, []))
                try half.verify(
                    try OpenSSL.sign(digest, with: pair.openSSLPrivate, []), of: digest, .ecdsaSignatureDigestX962)
            }
        }
        // What is beyond the curve's size does not count.
        let long = Data(repeating: 1, count: 200)
        let signature = try key.sign(long, .ecdsaSignatureDigestX962)
        try half.verify(signature, of: Data(long.prefix(100)), .ecdsaSignatureDigestX962)
        let few = Data(long.prefix(pair.key.blockSize - 2))
        expectFails(.verifyFailed, half, signature, of: few, .ecdsaSignatureDigestX962)
    }

    // MARK: Both

    @Test("K.27 A digest has the length of its function", arguments: Hash.all)
    func digestLength(hash: Hash) throws {
        let algorithms = [
            (Pair.rsa1024, hash.pkcs1(.digest)), (.rsa2048, hash.pss(.digest)), (.p256, hash.x962(.digest)),
            (.p521, hash.rfc4754(.digest)),
        ]
        for (pair, algorithm) in algorithms {
            let digest = Data(count: hash.count)
            let signature = try pair.key.sign(digest, algorithm)
            for wrong in [Data(), digest.dropLast(), digest + Data([0]), Data(count: 2 * hash.count)] {
                #expect(throws: Failure.parameter) { try pair.key.sign(Data(wrong), algorithm) }
                expectFails(.parameter, try pair.publicKey, signature, of: Data(wrong), algorithm)
            }
        }
    }

    private static let everyWay: [(Pair, SecKeyAlgorithm)] = [
        (.rsa2048, .rsaSignatureMessagePKCS1v15SHA256), (.rsa2048, .rsaSignatureMessagePSSSHA256),
        (.p256, .ecdsaSignatureMessageX962SHA256), (.p384, .ecdsaSignatureMessageX962SHA384),
        (.p521, .ecdsaSignatureMessageX962SHA512), (.p256, .ecdsaSignatureMessageRFC4754SHA256),
        (.p521, .ecdsaSignatureMessageRFC4754SHA512),
    ]

    @Test("K.33 Another message, another signature and another key do not verify", arguments: everyWay)
    func mismatch(pair: Pair, algorithm: SecKeyAlgorithm) throws {
        let half = try pair.publicKey
        let signature = try pair.key.sign(message, algorithm)
        expectFails(.verifyFailed, half, signature, of: message.flipping(0), algorithm)
        expectFails(.verifyFailed, half, signature, of: Data(), algorithm)
        let other: SecKey =
            pair.isCurve
            ? try SecKey.make(pair.type, pair.bits).publicKey : try Pair.rsa1024.publicKey
        expectFails(.verifyFailed, other, signature, of: message, algorithm)
        let changed = [
            signature.flipping(0), signature.flipping(signature.count / 2), signature.flipping(signature.count - 1),
            Data(), signature.dropLast(), signature + Data([0]), Data(count: signature.count),
            Data(repeating: 0xff, count: signature.count), Data(count: 63),
        ]
        for wrong in changed { expectFails(.verifyFailed, half, Data(wrong), of: message, algorithm) }
    }

    @Test("K.33 Only the one DER of two numbers in range is a signature", arguments: Pair.curves)
    func malformedDER(pair: Pair) throws {
        let field = pair.key.blockSize
        let numbers = try pair.key.sign(message, .ecdsaSignatureMessageRFC4754SHA256)
        let (r, s) = (Data(numbers.prefix(field)), Data(numbers.suffix(field)))
        func integer(_ bytes: Data) -> Data { OpenSSL.node(0x02, bytes) }
        let (good, tail) = (der(numbers), Data(der(numbers).suffix(2 + field)))
        let wrong: [String: Data] = [
            "zeros in front": OpenSSL.node(0x30, integer(Data(count: 2) + r) + integer(Data(count: 2) + s)),
            "one number": OpenSSL.node(0x30, integer(Data([1]))),
            "three numbers": OpenSSL.node(0x30, integer(Data([1])) + integer(Data([1])) + integer(Data([1]))),
            "zeros": OpenSSL.node(0x30, integer(Data([0])) + integer(Data([0]))),
            "a negative number": OpenSSL.node(0x30, integer(Data([0x80])) + integer(Data([1]))),
            "an empty number": OpenSSL.node(0x30, integer(Data()) + integer(Data([1]))),
            "a number too long": OpenSSL.node(0x30, integer(Data([1]) + r) + integer(Data([1]) + s)),
            "a set": OpenSSL.node(0x31, Data(good.suffix(2 * field))),
            "bytes behind": good + tail,
            "an endless length": Data([0x30, 0x80]) + good.dropFirst(2) + Data([0, 0]),
            "a wrong length": Data([0x30, 0x82, 0xff, 0xff]) + good.dropFirst(2),
        ]
        for (title, bytes) in wrong {
            #expect(throws: Failure.verifyFailed, "\(title)") {
                try pair.publicKey.verify(bytes, of: message, .ecdsaSignatureMessageX962SHA256)
            }
        }
    }

    @Test("K.34 Only private halves sign, and only public ones verify", arguments: everyWay)
    func halves(pair: Pair, algorithm: SecKeyAlgorithm) throws {
        let (key, half) = (pair.key, try pair.publicKey)
        let signature = try key.sign(message, algorithm)
        #expect(throws: Failure.parameter) { try half.sign(message, algorithm) }
        expectFails(.parameter, key, signature, of: message, algorithm)
        #expect(!half.supports(.sign, algorithm) && !key.supports(.verify, algorithm))
        let other: Pair = pair.isCurve ? .rsa1024 : .p256
        #expect(throws: Failure.parameter) { try other.key.sign(message, algorithm) }
        expectFails(.parameter, try other.publicKey, signature, of: message, algorithm)
    }

    @Test("K.37 The constants have Apple's raw values, and all algorithms are told apart")
    func rawValues() {
        for (algorithm, text) in Algorithms.all { #expect(algorithm.rawValue as String == "algid:\(text)") }
        #expect(Set(Algorithms.all.map(\.0)).count == Algorithms.all.count)
        #expect(former.ecdsaRFC4754.rawValue as String == "algid:sign:ECDSA:RFC4754")
        #expect(algorithm("sign:RSA:raw") == .rsaSignatureRaw)
        #expect(SecKeyKeyExchangeParameter.requestedSize.rawValue as String == "requestedSize")
        #expect(SecKeyKeyExchangeParameter.sharedInfo.rawValue as String == "sharedInfo")
        #expect(
            (0...5).map { SecKeyOperationType(rawValue: $0) } == [
                .sign, .verify, .encrypt, .decrypt, .keyExchange, nil,
            ])
    }

    @Test(
        "K.37 Each half has the algorithms of its kind, for the operations of its half",
        arguments: [Pair.rsa2048, .rsa4096] + Pair.curves)
    func matrix(pair: Pair) throws {
        let groups = [Algorithms.signatures, Algorithms.encryptions, Algorithms.exchanges]
        for (group, algorithms) in groups.enumerated() {
            for (algorithm, name) in algorithms {
                let isOfKind = name.contains(":RSA:") != pair.isCurve
                for (key, operations) in [
                    (pair.key, [SecKeyOperationType.sign, .decrypt, .keyExchange][group]),
                    (try pair.publicKey, [SecKeyOperationType.verify, .encrypt, .keyExchange][group]),
                ] {
                    let isPublic = key != pair.key
                    for operation in 0...4 {
                        let operation = try #require(SecKeyOperationType(rawValue: operation))
                        let expected = isOfKind && operation == operations && !(isPublic && group == 2)
                        #expect(key.supports(operation, algorithm) == expected, "\(name) \(operation) \(isPublic)")
                    }
                }
            }
        }
    }

    @Test("K.38 An algorithm that nobody knows is supported by no key", arguments: [Pair.rsa1024, .p256])
    func unknown(pair: Pair) throws {
        let names = [
            "", "sign", "sign:RSA:raw ", "sign:RSA:digest-PKCS1v15:MD5", "sign:RSA:message-PSS:SHA224:SHA224:28",
            "encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM-KDFIV", "SIGN:RSA:RAW",
        ]
        for unknown in names.map(algorithm) + [SecKeyAlgorithm(rawValue: "sign:RSA:raw")] {
            for operation in 0...4 {
                let operation = try #require(SecKeyOperationType(rawValue: operation))
                #expect(!pair.key.supports(operation, unknown))
                #expect(try !pair.publicKey.supports(operation, unknown))
            }
            #expect(throws: Failure.parameter) { try pair.key.sign(message, unknown) }
            expectFails(.parameter, try pair.publicKey, Data(count: 128), of: message, unknown)
            #expect(throws: Failure.parameter) { try pair.publicKey.encrypt(message, unknown) }
            #expect(throws: Failure.parameter) { try pair.key.decrypt(message, unknown) }
            #expect(throws: Failure.parameter) { try pair.key.agree(with: try pair.publicKey, unknown) }
        }
    }

    @Test("K.38 The error names the algorithm and the key, and no place for it is needed")
    func description() throws {
        var error: Unmanaged<CFError>?
        let half = try Pair.p384.publicKey
        #expect(SecKeyCreateSignature(half, .ecdsaSignatureDigestX962, Data() as NSData, &error) == nil)
        let text = try #require(error).takeRetainedValue().localizedDescription
        #expect(text.contains("algid:sign:ECDSA:digest-X962") && text.contains("public EC key of 384 bits"))
        let data = Data() as NSData
        #expect(SecKeyCreateSignature(half, .ecdsaSignatureDigestX962, data, nil) == nil)
        #expect(!SecKeyVerifySignature(half, .ecdsaSignatureDigestX962, data, data, nil))
        #expect(SecKeyCreateEncryptedData(half, .rsaEncryptionRaw, data, nil) == nil)
        #expect(SecKeyCreateDecryptedData(half, .rsaEncryptionRaw, data, nil) == nil)
        #expect(SecKeyCopyKeyExchangeResult(half, .ecdhKeyExchangeStandard, half, [:] as CFDictionary, nil) == nil)
        #expect(SecKeyCreateRandomKey([:] as CFDictionary, nil) == nil)
    }
}
