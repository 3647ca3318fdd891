import Foundation
import Security

/// Codable values of any class, told apart by their account and whatever attributes the caller adds.
struct Vault {
    typealias Attributes = [CFString: Any]

    let itemClass: ItemClass

    func insert<Value: Encodable>(_ value: Value, account: String, attributes: Attributes = [:]) throws {
        var item = query(account, attributes)
        item[kSecValueData as String] = try JSONEncoder().encode(value) as AnyObject
        try VaultError.check(SecItemAdd(item as CFDictionary, nil))
    }

    func value<Value: Decodable>(
        of type: Value.Type = Value.self, account: String, attributes: Attributes = [:]
    ) throws -> Value {
        var search = query(account, attributes)
        search[kSecReturnData as String] = kCFBooleanTrue
        search[kSecReturnAttributes as String] = kCFBooleanTrue
        var result: AnyObject?
        try VaultError.check(SecItemCopyMatching(search as CFDictionary, &result))
        guard let item = result as? [String: Any], let data = item[kSecValueData as String] as? Data else {
            throw VaultError.malformed
        }
        return try JSONDecoder().decode(Value.self, from: data)
    }

    func update<Value: Encodable>(_ value: Value, account: String, attributes: Attributes = [:]) throws {
        let changes: [CFString: Any] = [kSecValueData: try JSONEncoder().encode(value)]
        try VaultError.check(SecItemUpdate(query(account, attributes) as CFDictionary, changes as CFDictionary))
    }

    func delete(account: String, attributes: Attributes = [:]) throws {
        try VaultError.check(SecItemDelete(query(account, attributes) as CFDictionary))
    }

    /// The attributes of every item of the class. No item at all is an empty list, not an error.
    func inventory() throws -> [[String: Any]] {
        let search: [CFString: Any] = [
            kSecClass: itemClass.rawValue,
            kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnAttributes: true,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        try VaultError.check(status)
        return result as? [[String: Any]] ?? []
    }

    private func query(_ account: String, _ attributes: Attributes) -> [String: AnyObject] {
        var query: [String: AnyObject] = [
            kSecClass as String: itemClass.rawValue,
            kSecAttrAccount as String: account as AnyObject,
        ]
        for (name, value) in attributes {
            query[name as String] = value as AnyObject
        }
        return query
    }
}
