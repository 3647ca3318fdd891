import Foundation
import Report
import Security

/// A key pair whose private half never leaves the keychain.
struct DeviceKey {
    /// What comes before the point in a public key on P-256 as OpenSSL and servers read it (`SubjectPublicKeyInfo`).
    static let header = Data([
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ])

    let tag: Data

    init(_ name: String) { tag = Data("com.example.device.\(name)".utf8) }

    func make() throws -> SecKey {
        var error: Unmanaged<CFError>?
        guard
            let access = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .privateKeyUsage, &error)
        else { throw error!.takeRetainedValue() as Error }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag,
                kSecAttrAccessControl as String: access,
            ] as [String: Any],
        ]
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as Error
        }
        return key
    }

    func find() throws -> SecKey {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag as String: tag,
            kSecReturnRef as String: true,
        ]
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status == errSecSuccess else { throw KeyStoreError(status: status) }
        return item as! SecKey
    }

    func delete() -> OSStatus {
        SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary)
    }
}

/// The device key signs what a server is to believe, and is found again by its tag.
func deviceKey() throws {
    var error: Unmanaged<CFError>?
    let device = DeviceKey("signing")
    let made = try device.make()
    tell("The private half is not exported", SecKeyCopyExternalRepresentation(made, nil) == nil)

    guard let publicKey = SecKeyCopyPublicKey(made),
        let point = SecKeyCopyExternalRepresentation(publicKey, &error) as Data?
    else { throw error!.takeRetainedValue() as Error }
    tell("The public half is, and with its header a server reads it", (DeviceKey.header + point).count == 91)

    let key = try device.find()
    tell("The key is found by its tag", key == made)
    let challenge = Data("a challenge of the server".utf8)
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    tell("It can sign", SecKeyIsAlgorithmSupported(key, .sign, algorithm))
    guard let signature = SecKeyCreateSignature(key, algorithm, challenge as CFData, &error) as Data? else {
        throw error!.takeRetainedValue() as Error
    }

    // The server has the point and nothing else.
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeEC, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
    ]
    guard let known = SecKeyCreateWithData(point as CFData, attributes as CFDictionary, &error) else {
        throw error!.takeRetainedValue() as Error
    }
    tell(
        "The server verifies the signature",
        SecKeyVerifySignature(known, algorithm, challenge as CFData, signature as CFData, &error))
    let isForged = SecKeyVerifySignature(known, algorithm, Data("another".utf8) as CFData, signature as CFData, &error)
    let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
    tell("And of another challenge it does not", !isForged && code == CFIndex(errSecVerifyFailed))
    tell("The key is deleted", device.delete() == errSecSuccess)
    tell("It is gone", device.delete() == errSecItemNotFound)
}

/// A file that only this device reads.
func encryptToDevice() throws {
    var error: Unmanaged<CFError>?
    let device = DeviceKey("files")
    let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
    let secret = Data("the words of the wallet".utf8)
    let file = URL(fileURLWithPath: "wallet.sealed")

    guard let publicKey = SecKeyCopyPublicKey(try device.make()) else { stop("the key has no public half") }
    tell("The public half encrypts", SecKeyIsAlgorithmSupported(publicKey, .encrypt, algorithm))
    guard let sealed = SecKeyCreateEncryptedData(publicKey, algorithm, secret as CFData, &error) as Data? else {
        throw error!.takeRetainedValue() as Error
    }
    try sealed.write(to: file)
    tell("The file does not have the text", sealed.range(of: secret) == nil)

    let read = try Data(contentsOf: file)
    let privateKey = try device.find()
    let opened = SecKeyCreateDecryptedData(privateKey, algorithm, read as CFData, &error) as Data?
    tell("The key of the keychain opens it", opened == secret)

    var changed = read
    changed[changed.count - 1] ^= 1
    let nothing = SecKeyCreateDecryptedData(privateKey, algorithm, changed as CFData, &error)
    let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
    tell("A changed file is refused", nothing == nil && code == CFIndex(errSecParam))
    tell("The key of the files is deleted", device.delete() == errSecSuccess)
}
