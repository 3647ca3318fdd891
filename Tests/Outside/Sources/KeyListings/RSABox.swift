import Foundation
import Report
import Security

/// Encryption with an RSA key that is read from PEM, block by block.
private struct RSABox {
    let key: SecKey

    init(pem: String, keyClass: CFString) throws {
        let text = pem.components(separatedBy: .newlines).filter { !$0.hasPrefix("-----") }.joined()
        guard let der = Data(base64Encoded: text) else { stop("the PEM is no base64") }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeyClass as String: keyClass,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateWithData(der as CFData, attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as Error
        }
        self.key = key
    }

    /// - Parameter size: The bytes of a block that go in: the key's, less the padding when encrypting.
    func inBlocks(
        _ data: Data, of size: Int,
        _ operation: (SecKey, SecKeyAlgorithm, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?
    ) throws -> Data {
        var result = Data()
        for start in stride(from: 0, to: data.count, by: size) {
            let block = data.subdata(in: start..<min(start + size, data.count))
            var error: Unmanaged<CFError>?
            guard let done = operation(key, .rsaEncryptionPKCS1, block as CFData, &error) else {
                throw error!.takeRetainedValue() as Error
            }
            result += done as Data
        }
        return result
    }
}

/// Long texts in blocks, and without.
func encryptWithRSA() throws {
    var error: Unmanaged<CFError>?
    let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048]
    guard let made = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
        throw error!.takeRetainedValue() as Error
    }
    func pem(_ key: SecKey?, _ title: String) throws -> String {
        guard let key, let der = SecKeyCopyExternalRepresentation(key, &error) as Data? else {
            throw error!.takeRetainedValue() as Error
        }
        return
            "-----BEGIN \(title)-----\n" + der.base64EncodedString(options: .lineLength64Characters)
            + "\n-----END \(title)-----\n"
    }
    let open = try RSABox(pem: pem(SecKeyCopyPublicKey(made), "RSA PUBLIC KEY"), keyClass: kSecAttrKeyClassPublic)
    let closed = try RSABox(pem: pem(made, "RSA PRIVATE KEY"), keyClass: kSecAttrKeyClassPrivate)
    tell("A key comes back from PEM", closed.key == made && open.key == SecKeyCopyPublicKey(made))

    let text = Data((0..<1000).map { UInt8($0 % 251) })
    let size = SecKeyGetBlockSize(open.key)
    let sealed = try open.inBlocks(text, of: size - 11, SecKeyCreateEncryptedData)
    tell("A text of 1,000 bytes has five blocks", sealed.count == 5 * size)
    try tell("They decrypt to it", closed.inBlocks(sealed, of: size, SecKeyCreateDecryptedData) == text)

    let algorithm = SecKeyAlgorithm.rsaEncryptionOAEPSHA1AESGCM
    guard SecKeyIsAlgorithmSupported(open.key, .encrypt, algorithm),
        let whole = SecKeyCreateEncryptedData(open.key, algorithm, text as CFData, &error)
    else { throw error!.takeRetainedValue() as Error }
    tell("With AES-GCM it is one", CFDataGetLength(whole) == size + text.count + 16)
    tell("It decrypts too", SecKeyCreateDecryptedData(closed.key, algorithm, whole, &error) as Data? == text)
    let tooLong = SecKeyCreateEncryptedData(open.key, .rsaEncryptionPKCS1, text as CFData, &error)
    let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
    tell("RSA alone takes no more than a block", tooLong == nil && code == CFIndex(errSecParam))
}
