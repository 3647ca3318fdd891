import Foundation
import Report
import Security

struct KeyStoreError: LocalizedError {
    let status: OSStatus

    var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
}

/// Keys as items of the keychain, each under its tag.
private struct KeyStore {
    func query(_ tag: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
        ]
    }

    func add(_ key: SecKey, tag: String) throws {
        var query = query(tag)
        query[kSecValueRef as String] = key
        query[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
        try check(SecItemAdd(query as CFDictionary, nil))
    }

    func add(_ bytes: Data, tag: String) throws {
        let query = query(tag).merging([
            kSecValueData as String: bytes, kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
        ]) { $1 }
        try check(SecItemAdd(query as CFDictionary, nil))
    }

    func key(tag: String) throws -> SecKey? {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        return (result as! SecKey)
    }

    func bytes(tag: String) throws -> Data? {
        var query = query(tag)
        query[kSecReturnData as String] = kCFBooleanTrue
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        return result as? Data
    }

    func remove(tag: String) throws { try check(SecItemDelete(query(tag) as CFDictionary)) }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw KeyStoreError(status: status) }
    }
}

/// A key goes in as an object or as bytes, and comes out as either.
func keepKeys() throws {
    let store = KeyStore()
    let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 384]
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error),
        let bytes = SecKeyCopyExternalRepresentation(key, &error) as Data?
    else { throw error!.takeRetainedValue() as Error }

    try tell("Nothing is found before", store.key(tag: "object") == nil)
    try store.add(key, tag: "object")
    try tell("A key that was added is found", store.key(tag: "object") == key)
    try tell("Its bytes too", store.bytes(tag: "object") == bytes)

    let attributes = SecKeyCopyAttributes(key) as? [String: Any] ?? [:]
    tell(
        "It is on a curve",
        attributes[kSecAttrKeyType as String] as? String == kSecAttrKeyTypeECSECPrimeRandom as String)
    tell("It is a private half", attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
    tell("It has 384 bits", attributes[kSecAttrKeySizeInBits as String] as? Int == 384)

    try store.add(bytes, tag: "bytes")
    try tell("Bytes that were added are found", store.bytes(tag: "bytes") == bytes)
    try tell("They are the key", store.key(tag: "bytes") == key)

    for tag in ["object", "bytes"] { try store.remove(tag: tag) }
    try tell("Nothing is found after", store.bytes(tag: "bytes") == nil)
}
