import Foundation

/// Dictionaries built statement by statement, with Core Foundation's types as values.
enum Statements {
    static func store(_ text: String, account: String, accessibility: CFString) -> OSStatus? {
        var error: Unmanaged<CFError>?
        guard
            let accessControl = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault,
                accessibility,
                SecAccessControlCreateFlags.biometryCurrentSet,
                &error)
        else {
            return nil
        }
        var item: [String: Any] = [:]
        item[kSecClass as String] = kSecClassGenericPassword
        item[kSecAttrLabel as String] = "com.example.shapes" as CFString
        item[kSecAttrAccount as String] = account as CFString
        item[kSecValueData as String] = text.data(using: .utf8)! as CFData
        item[kSecAttrAccessControl as String] = accessControl
        return SecItemAdd(item as CFDictionary, nil)
    }

    /// The same without access control, so that it can be read.
    static func storeFreely(_ text: String, account: String) -> OSStatus {
        var item: [String: Any] = [:]
        item[kSecClass as String] = kSecClassGenericPassword
        item[kSecAttrLabel as String] = "com.example.shapes" as CFString
        item[kSecAttrAccount as String] = account as CFString
        item[kSecValueData as String] = text.data(using: .utf8)! as CFData
        return SecItemAdd(item as CFDictionary, nil)
    }

    static func fetch(account: String) -> (status: OSStatus, text: String?) {
        var search = [String: Any]()
        search[kSecClass as String] = kSecClassGenericPassword
        search[kSecReturnData as String] = kCFBooleanTrue
        search[kSecAttrAccount as String] = account as CFString
        search[kSecAttrLabel as String] = "com.example.shapes" as CFString
        search[kSecUseOperationPrompt as String] = "To open the box" as CFString
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(search as CFDictionary, UnsafeMutablePointer($0))
        }
        if status == noErr {
            return (status, String(data: result as! Data, encoding: .utf8)!)
        }
        return (status, nil)
    }

    static func forget(account: String) -> OSStatus {
        SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrAccount: account] as CFDictionary)
    }
}
