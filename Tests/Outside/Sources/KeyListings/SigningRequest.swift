import Foundation
import Report
import Security

/// A request for a certificate, put together by hand: a name, the public key, and the key's signature.
private struct SigningRequest {
    let commonName: String
    let organization: String

    func make(_ key: SecKey) throws -> Data {
        var error: Unmanaged<CFError>?
        guard let publicKey = SecKeyCopyPublicKey(key),
            let point = SecKeyCopyExternalRepresentation(publicKey, &error) as Data?
        else { throw error!.takeRetainedValue() as Error }
        let version = Data([0x02, 0x01, 0x00])
        let attributes = Data([0xa0, 0x00])
        let content = element(0x30, version + subject + publicKeyInfo(point) + attributes)
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        guard SecKeyIsAlgorithmSupported(key, .sign, algorithm),
            let signature = SecKeyCreateSignature(key, algorithm, content as CFData, &error) as Data?
        else { throw error!.takeRetainedValue() as Error }
        let isValid = SecKeyVerifySignature(publicKey, algorithm, content as CFData, signature as CFData, &error)
        tell("The request's signature is right", isValid)
        // ecdsa-with-SHA256
        let name = element(0x30, Data([0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
        return element(0x30, content + name + element(0x03, Data([0]) + signature))
    }

    private var subject: Data { element(0x30, part(10, organization) + part(3, commonName)) }

    private func part(_ number: UInt8, _ value: String) -> Data {
        let type = Data([0x06, 0x03, 0x55, 0x04, number])
        return element(0x31, element(0x30, type + element(0x0c, Data(value.utf8))))
    }

    private func publicKeyInfo(_ point: Data) -> Data {
        let kind = Data([0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
        let curve = Data([0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
        return element(0x30, element(0x30, kind + curve) + element(0x03, Data([0]) + point))
    }

    private func element(_ tag: UInt8, _ content: Data) -> Data {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return Data([tag] + length) + content
    }
}

/// With a key of this process, and with one that stays in the keychain.
func signingRequest() throws {
    let request = SigningRequest(commonName: "device.example", organization: "Example")
    for isInEngine in [false, true] {
        var parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        ]
        if isInEngine {
            parameters[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave
            parameters[kSecPrivateKeyAttrs] = [kSecAttrApplicationTag: Data("request".utf8)] as CFDictionary
        }
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as Error
        }
        let bytes = try request.make(key)
        tell("A request has its length", bytes.count > 200 && bytes.starts(with: [0x30, 0x81]))
    }
    let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("request".utf8)] as CFDictionary
    tell("The key of the request is deleted", SecItemDelete(query) == errSecSuccess)
}
