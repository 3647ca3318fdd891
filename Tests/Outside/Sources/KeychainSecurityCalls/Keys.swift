import Foundation
import Report
import Security

/// Keys are made, looked at and used.
enum Keys {
    static func check() throws {
        let (rsa, curve) = (try make(kSecAttrKeyTypeRSA, 2048), try make(kSecAttrKeyTypeECSECPrimeRandom, 256))
        try look(at: curve)
        try algorithms(rsa, curve)
        try sign(curve)
        try encrypt(rsa)
        try exchange(curve)
        let former: any FormerCalls = FormerKeys(rsa: rsa)
        try former.check()
    }

    static func make(_ type: CFString, _ bitCount: Int) throws -> SecKey {
        var error: Unmanaged<CFError>?
        let parameters: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bitCount]
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else { throw failure(error) }
        return key
    }

    static func publicHalf(_ key: SecKey) -> SecKey {
        guard let half = SecKeyCopyPublicKey(key) else { stop("a key has no public half") }
        return half
    }

    private static func failure(_ error: Unmanaged<CFError>?) -> any Error {
        error?.takeRetainedValue() ?? NSError(domain: NSOSStatusErrorDomain, code: Int(errSecInternal))
    }

    private static func look(at key: SecKey) throws {
        var error: Unmanaged<CFError>?
        guard let bytes = SecKeyCopyExternalRepresentation(key, &error) else { throw failure(error) }
        tell("A private half on P-256 has 97 bytes", CFDataGetLength(bytes) == 97)
        let attributes = SecKeyCopyAttributes(key) as? [CFString: Any] ?? [:]
        guard let same = SecKeyCreateWithData(bytes, attributes as CFDictionary, &error) else { throw failure(error) }
        tell("Its bytes and attributes make it again", key.isEqual(same) && key.hash == same.hash)
        tell("A block has the bytes of a coordinate", SecKeyGetBlockSize(key) == 32)
        tell("It is described: \(key)", key.description.contains("private EC key of 256 bits"))
        tell("It is of the type of keys", CFGetTypeID(key) == SecKeyGetTypeID())
    }

    private static func algorithms(_ rsa: SecKey, _ curve: SecKey) throws {
        let all = Algorithms.all
        tell("Algorithms are told apart", Set(all.map { $0.rawValue as String }).count == all.count)
        tell("A text makes an algorithm", all.allSatisfy { SecKeyAlgorithm(rawValue: $0.rawValue) == $0 })
        let operations = (0..<5).compactMap { SecKeyOperationType(rawValue: $0) }
        tell("Operations have numbers", operations == [.sign, .verify, .encrypt, .decrypt, .keyExchange])
        func support(_ key: SecKey, _ operation: SecKeyOperationType) -> [SecKeyAlgorithm] {
            all.filter { SecKeyIsAlgorithmSupported(key, operation, $0) }
        }
        tell("An RSA key signs with all that are for it", support(rsa, .sign) == Algorithms.rsaSignatures)
        tell("Its public half verifies them", support(publicHalf(rsa), .verify) == Algorithms.rsaSignatures)
        tell("And encrypts with all that are for it", support(publicHalf(rsa), .encrypt) == Algorithms.rsaEncryption)
        tell("A key on a curve signs with the others", support(curve, .sign) == Algorithms.curveSignatures)
        tell("It decrypts with ECIES", support(curve, .decrypt) == Algorithms.curveEncryption)
        tell("And exchanges keys", support(curve, .keyExchange) == Algorithms.exchanges)
    }

    private static func sign(_ key: SecKey) throws {
        var error: Unmanaged<CFError>?
        let message = Data("a message".utf8) as CFData
        guard let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error) else {
            throw failure(error)
        }
        tell(
            "A signature is verified",
            SecKeyVerifySignature(
                publicHalf(key), .ecdsaSignatureMessageX962SHA256, message, signature, &error))
    }

    private static func encrypt(_ key: SecKey) throws {
        var error: Unmanaged<CFError>?
        let text = Data("a text".utf8) as CFData
        guard let sealed = SecKeyCreateEncryptedData(publicHalf(key), .rsaEncryptionOAEPSHA256, text, &error),
            let opened = SecKeyCreateDecryptedData(key, .rsaEncryptionOAEPSHA256, sealed, &error)
        else { throw failure(error) }
        tell("A text is encrypted and decrypted", CFEqual(opened, text))
    }

    private static func exchange(_ key: SecKey) throws {
        var error: Unmanaged<CFError>?
        let other = try make(kSecAttrKeyTypeEC, 256)
        let size = SecKeyKeyExchangeParameter(rawValue: SecKeyKeyExchangeParameter.requestedSize.rawValue)
        let parameters: [CFString: Any] = [
            size.rawValue: 20, SecKeyKeyExchangeParameter.sharedInfo.rawValue: Data("both know it".utf8),
        ]
        func agree(_ own: SecKey, _ peer: SecKey) throws -> CFData {
            guard
                let secret = SecKeyCopyKeyExchangeResult(
                    own, .ecdhKeyExchangeStandardX963SHA256, publicHalf(peer), parameters as CFDictionary, &error)
            else { throw failure(error) }
            return secret
        }
        let secret = try agree(key, other)
        try tell("Both sides agree on a secret", CFEqual(secret, agree(other, key)))
        tell("It has the size that was asked for", CFDataGetLength(secret) == 20)
    }
}

/// Calls that Apple has declared out of date: reached by a protocol, so that the compiler does not warn of them.
protocol FormerCalls {
    func check() throws
}

struct FormerKeys: FormerCalls {
    let rsa: SecKey

    @available(*, deprecated)
    func check() throws {
        var (publicKey, privateKey): (SecKey?, SecKey?)
        let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 384]
        let status = SecKeyGeneratePair(parameters as CFDictionary, &publicKey, &privateKey)
        tell("A pair is made", status == errSecSuccess && publicKey == privateKey.flatMap(SecKeyCopyPublicKey))
        let former = SecKeyAlgorithm.ecdsaSignatureRFC4754
        tell("An algorithm keeps its former text", former.rawValue as String == "algid:sign:ECDSA:RFC4754")

        let paddings: [SecPadding] = [
            .PKCS1, .OAEP, .sigRaw, .PKCS1MD2, .PKCS1MD5, .PKCS1SHA1, .PKCS1SHA224, .PKCS1SHA256, .PKCS1SHA384,
            .PKCS1SHA512,
        ]
        tell("Paddings are told apart", Set(paddings.map(\.rawValue)).count == paddings.count)
        tell("A padding is a number", SecPadding(rawValue: 1) == .PKCS1)

        let digest = [UInt8](repeating: 7, count: 32)
        let text = Array("a text".utf8)
        let half = Keys.publicHalf(rsa)
        var signature = [UInt8](repeating: 0, count: SecKeyGetBlockSize(rsa))
        var count = signature.count
        tell(
            "A digest is signed",
            SecKeyRawSign(rsa, .PKCS1SHA256, digest, digest.count, &signature, &count) == errSecSuccess)
        tell(
            "And verified", SecKeyRawVerify(half, .PKCS1SHA256, digest, digest.count, signature, count) == errSecSuccess
        )
        signature[9] ^= 1
        tell(
            "A changed signature is not",
            SecKeyRawVerify(half, .PKCS1SHA256, digest, digest.count, signature, count) == errSSLCrypto)

        var sealed = [UInt8](repeating: 0, count: SecKeyGetBlockSize(rsa))
        var sealedCount = sealed.count
        tell(
            "A text is encrypted",
            SecKeyEncrypt(half, .OAEP, text, text.count, &sealed, &sealedCount) == errSecSuccess)
        var opened = [UInt8](repeating: 0, count: sealed.count)
        var openedCount = opened.count
        tell(
            "And decrypted",
            SecKeyDecrypt(rsa, .OAEP, sealed, sealedCount, &opened, &openedCount) == errSecSuccess
                && Array(opened.prefix(openedCount)) == text)
    }
}
