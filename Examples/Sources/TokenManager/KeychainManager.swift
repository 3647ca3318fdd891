import Foundation

/// Generic passwords by service and account.
final class KeychainManager: Sendable {
    static let shared = KeychainManager()

    private init() {}

    /// Replaces whatever was there, attributes included.
    func save(_ data: Data, service: String, account: String) throws {
        var item = query(service: service, account: account)
        SecItemDelete(item as CFDictionary)
        item[kSecValueData as String] = data
        item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else { throw KeychainError(operation: "save", status: status) }
    }

    func load(service: String, account: String) throws -> Data {
        var search = query(service: service, account: account)
        search[kSecReturnData as String] = true
        search[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(search as CFDictionary, &found)
        guard status == errSecSuccess, let data = found as? Data else {
            throw KeychainError(operation: "load", status: status)
        }
        return data
    }

    /// Keeps the attributes of an item that is there, and adds it if it is not.
    func update(_ data: Data, service: String, account: String) throws {
        let changes: [String: Any] = [kSecValueData as String: data]
        let status = SecItemUpdate(query(service: service, account: account) as CFDictionary, changes as CFDictionary)
        switch status {
        case errSecSuccess: return
        case errSecItemNotFound: try save(data, service: service, account: account)
        default: throw KeychainError(operation: "update", status: status)
        }
    }

    /// An item that is not there counts as deleted.
    func delete(service: String, account: String) throws {
        let status = SecItemDelete(query(service: service, account: account) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw KeychainError(operation: "delete", status: status)
        }
    }

    private func query(service: String, account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }
}

struct KeychainError: LocalizedError, Equatable {
    let operation: String
    let status: OSStatus

    var errorDescription: String? {
        let reason = SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)"
        return "\(operation): \(reason)"
    }
}
