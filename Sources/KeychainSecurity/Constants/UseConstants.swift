public import Foundation

// Which keychain, or which items of it. There is but one keychain here: all but the first are refused.

/// Accepted and ignored: this is the data-protection keychain.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

// Whether and how a person is asked.

/// An `LAContext`.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// A search that would have to ask fails with ``errSecInteractionNotAllowed``.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// A search leaves out the items that it would have to ask for. Searches only.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The older form of ``kSecUseAuthenticationUIFail``: a Boolean.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// The reason to show to the person who is asked.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
