import Foundation
import Security

/// Keys as other libraries export them, each kept as a generic password.
struct KeyChest {
    struct Failure: LocalizedError, Equatable {
        let status: OSStatus

        var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
    }

    let service = "com.example.signed-token"

    func keep(_ key: Data, named name: String) throws {
        let item = query(name).merging([
            kSecValueData as String: key,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]) { $1 }
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    func key(named name: String) throws -> Data {
        let search = query(name).merging([kSecReturnData as String: true]) { $1 }
        var result: CFTypeRef?
        try check(SecItemCopyMatching(search as CFDictionary, &result))
        guard let key = result as? Data else { throw Failure(status: errSecDecode) }
        return key
    }

    func destroy(_ name: String) throws {
        try check(SecItemDelete(query(name) as CFDictionary))
    }

    static func randomKey(byteCount: Int) throws -> Data {
        var key = Data(count: byteCount)
        let status = key.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, byteCount, $0.baseAddress!) }
        guard status == errSecSuccess else { throw Failure(status: status) }
        return key
    }

    private func query(_ name: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: name,
        ]
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}
