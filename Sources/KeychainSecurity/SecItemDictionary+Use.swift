internal import Foundation
internal import KeychainClient
internal import KeychainModel

extension SecItemDictionary {
    /// Reads a key that says how a call may bother a person, or which keychain it means.
    mutating func readUse(_ value: AnyObject, _ name: String) throws(KeychainError) {
        switch name {
        case "u_AuthUI": authenticationUI = try Self.authenticationUI(value)
        case "u_NoAuthUI":
            if try SecItemValue.boolean(name, value) { forbidsQuestions = true }
        case "u_AuthCtx":
            guard let context = value as? any AuthenticationContext else { throw SecItemValue.wrongType(name, value) }
            self.context = context
            if context.forbidsInteraction { forbidsQuestions = true }
        case "u_CredRef":
            guard value is NSData else { throw SecItemValue.wrongType(name, value) }
            hasCredential = true
        case "u_OpPrompt": prompt = try SecItemValue.text(name, value)
        // The keychain finds the asking program itself: a program's own word could be another's name.
        case "u_CallerName": _ = try SecItemValue.text(name, value)
        case "u_SystemKeychain", "u_SystemKeychainAlways", "u_SyncBubbleKeychain", "u_UserIndependentKeychain":
            throw KeychainError(
                .missingEntitlement, message: "the keychain that \(name) means is open to Apple's own programs alone")
        default:
            throw KeychainError(.parameter, message: "the key \(String(reflecting: name)) is not supported")
        }
    }

    private static func authenticationUI(_ value: AnyObject) throws(KeychainError) -> ItemQuery.AuthenticationUI {
        switch SecItemValue.text(value) {
        case "u_AuthUIA": return .allow
        case "u_AuthUIF": return .fail
        case "u_AuthUIS": return .skip
        default: throw KeychainError(.parameter, message: "kSecUseAuthenticationUI has none of its three values")
        }
    }
}
