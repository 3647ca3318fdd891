import Foundation
import LocalAuthentication
import Security

/// Secrets that are given out only after the person has shown a face or a finger.
struct BiometricVault {
    let service: String

    func store(
        _ secret: String, account: String, accessible: CFString,
        flags: SecAccessControlCreateFlags = .biometryCurrentSet, context: LAContext? = nil
    ) throws {
        var item = query(account)
        SecItemDelete(item as CFDictionary)
        item[kSecValueData as String] = Data(secret.utf8)
        item[kSecAttrAccessControl as String] = try Self.accessControl(accessible, flags)
        item[kSecUseAuthenticationContext as String] = context
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Shows the prompt to the person and waits for an answer.
    func secret(account: String, prompt: String) throws -> String {
        var search = query(account)
        search[kSecReturnData as String] = true
        search[kSecUseOperationPrompt as String] = prompt
        return try string(search)
    }

    /// Uses what the context has shown already; asks the person only if that does not suffice.
    func secret(account: String, context: LAContext) throws -> String {
        var search = query(account)
        search[kSecReturnData as String] = true
        search[kSecUseAuthenticationContext as String] = context
        return try string(search)
    }

    /// Finds only what needs no question.
    func secretWithoutQuestion(account: String) throws -> String {
        var search = query(account)
        search[kSecReturnData as String] = true
        search[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip
        return try string(search)
    }

    func replace(_ secret: String, account: String, context: LAContext? = nil) throws {
        let changes: [String: Any] = [kSecValueData as String: Data(secret.utf8)]
        var search = query(account)
        search[kSecUseAuthenticationContext as String] = context
        try check(SecItemUpdate(search as CFDictionary, changes as CFDictionary))
    }

    func remove(_ account: String) throws {
        try check(SecItemDelete(query(account) as CFDictionary))
    }

    static func accessControl(_ accessible: CFString, _ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        var error: Unmanaged<CFError>?
        guard let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessible, flags, &error) else {
            let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
            throw BiometricError(status: code.map { OSStatus($0) } ?? errSecParam)
        }
        return control
    }

    private func string(_ search: [String: Any]) throws -> String {
        var result: AnyObject?
        try check(SecItemCopyMatching(search as CFDictionary, &result))
        return String(decoding: result as! Data, as: UTF8.self)
    }

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw BiometricError(status: status) }
    }
}

struct BiometricError: LocalizedError, Equatable {
    let status: OSStatus

    var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
}
