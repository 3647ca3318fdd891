import Foundation
import Security

/// Certificates, keys and identities have no account. They are kept as objects, under a label.
extension Vault {
    func insert(_ object: AnyObject, label: String) throws {
        let item: [CFString: Any] = [kSecValueRef: object, kSecAttrLabel: label]
        try VaultError.check(SecItemAdd(item as CFDictionary, nil))
    }

    func object(label: String) throws -> NSObject {
        let search: [CFString: Any] = [
            kSecClass: itemClass.rawValue, kSecAttrLabel: label, kSecReturnRef: true,
        ]
        var result: AnyObject?
        try VaultError.check(SecItemCopyMatching(search as CFDictionary, &result))
        guard let object = result as? NSObject else { throw VaultError.malformed }
        return object
    }

    func delete(label: String) throws {
        let query: [CFString: Any] = [kSecClass: itemClass.rawValue, kSecAttrLabel: label]
        try VaultError.check(SecItemDelete(query as CFDictionary))
    }
}
