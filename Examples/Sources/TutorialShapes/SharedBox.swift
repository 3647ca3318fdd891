import Foundation

/// Items that have a group and an account, but no service.
class SharedBox {
    private let group: String

    init(group: String) {
        self.group = group
    }

    func store(_ data: Data, account: String) throws {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccessGroup as String: group,
            kSecAttrAccount as String: account,
            kSecValueData as String: data,
        ]
        SecItemDelete(item as CFDictionary)
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else {
            throw ShapeError.couldNotStore(status)
        }
    }

    func fetch(account: String) throws -> Data {
        let search: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccessGroup as String: group,
            kSecAttrAccount as String: account,
            kSecReturnData as String: true,
        ]
        var result: AnyObject?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        guard status == errSecSuccess, let data = result as? Data else {
            throw ShapeError.couldNotFetch(status)
        }
        return data
    }
}
