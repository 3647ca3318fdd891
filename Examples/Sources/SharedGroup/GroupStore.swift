import Foundation

/// Notes in one access group, or in whichever group the keychain chooses.
struct GroupStore {
    let group: String?

    func write(_ text: String, named name: String) -> OSStatus {
        var item = query(name)
        SecItemDelete(item as CFDictionary)
        item[kSecValueData as String] = Data(text.utf8)
        return SecItemAdd(item as CFDictionary, nil)
    }

    func text(named name: String) -> (status: OSStatus, text: String?) {
        var search = query(name)
        search[kSecReturnData as String] = true
        var result: AnyObject?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        return (status, (result as? Data).flatMap { String(data: $0, encoding: .utf8) })
    }

    /// The groups in which there is a note of this name.
    func groups(ofNote name: String) -> [String] {
        var search = query(name)
        search[kSecReturnAttributes as String] = true
        search[kSecMatchLimit as String] = kSecMatchLimitAll
        var result: AnyObject?
        guard SecItemCopyMatching(search as CFDictionary, &result) == errSecSuccess else { return [] }
        return (result as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccessGroup as String] as? String }
    }

    func remove(_ name: String) -> OSStatus {
        SecItemDelete(query(name) as CFDictionary)
    }

    private func query(_ name: String) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.notes",
            kSecAttrAccount as String: name,
        ]
        query[kSecAttrAccessGroup as String] = group
        return query
    }
}
