import Foundation
import LocalAuthentication

extension Box {
    /// The access control stays optional, and goes into the dictionary as `Any`.
    func storeWithBiometry(_ data: Data, account: String, accessibility: CFString) throws {
        let access = SecAccessControlCreateWithFlags(
            nil,
            accessibility,
            .biometryCurrentSet,
            nil
        )
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "shapes",
            kSecAttrAccount as String: account,
            kSecValueData as String: data,
            kSecAttrAccessControl as String: access as Any,
        ]
        SecItemDelete(item as CFDictionary)
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else {
            throw ShapeError.couldNotStore(status)
        }
    }

    func fetchWithBiometry(account: String, reason: String = "To open the box") async throws -> Data {
        let context = LAContext()
        var error: NSError?
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
            throw ShapeError.noSensor
        }
        return try await fetchWithPrompt(account: account, reason: reason)
    }

    func fetchWithPrompt(account: String, reason: String) async throws -> Data {
        let search: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "shapes",
            kSecAttrAccount as String: account,
            kSecReturnData as String: true,
            kSecUseOperationPrompt as String: reason,
        ]
        return try await withCheckedThrowingContinuation { continuation in
            continuation.resume(with: Result { try Self.open(search) })
        }
    }

    private static func open(_ search: [String: Any]) throws -> Data {
        var found: AnyObject?
        let status = SecItemCopyMatching(search as CFDictionary, &found)
        guard status == errSecSuccess, let data = found as? Data else { throw ShapeError.couldNotFetch(status) }
        return data
    }
}
