import Foundation
import Security

/// The key of the service. It is made and used in the keychain: with a daemon, its bytes are never in this process.
enum ServiceKey {
    struct Failure: LocalizedError, Equatable {
        let status: OSStatus

        var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
    }

    private static let tag = Data("com.example.token-service".utf8)
    private static var query: [String: Any] {
        [
            kSecClass as String: kSecClassKey,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag as String: tag,
        ]
    }

    static func findOrMake() throws -> SecKey {
        do {
            return try find()
        } catch let failure as Failure where failure.status == errSecItemNotFound {
            return try make()
        }
    }

    static func find() throws -> SecKey {
        var item: CFTypeRef?
        let search = query.merging([kSecReturnRef as String: true]) { $1 }
        let status = SecItemCopyMatching(search as CFDictionary, &item)
        guard status == errSecSuccess else { throw Failure(status: status) }
        return item as! SecKey
    }

    static func make() throws -> SecKey {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag,
                // A server signs while nobody is there to unlock.
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ] as [String: Any],
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as Error
        }
        return key
    }

    static func retire() throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}
