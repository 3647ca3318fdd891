public import Foundation

// Which keychain, or which items of it. There is but one keychain here: all but the first are refused.

/// The key `nleg` asks for the data-protection keychain, which is the only one here, so every value is ignored.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// The key means a keychain for Apple's own programs, and is `errSecMissingEntitlement` here.
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
/// The key means one of macOS's keychain files, which do not exist here, and is `errSecParam`.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
/// The key restricts a call to given items, and is `errSecParam`.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The key `acls` holds macOS's older access control, and is `errSecNoSuchAttr` here.
///
/// `kSecAttrAccessControl` is the attribute that this keychain knows.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

// Whether and how a person is asked.

/// The context is an `LAContext`, whose passcode, finger or password serves several calls.
///
/// Any other object is `errSecParam`. A context that forbids questions makes calls that would have to ask end with
/// `errSecInteractionNotAllowed`. In an update the context stands in the query.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// The value says how a call treats items that ask for a person.
///
/// The value is one of the `kSecUseAuthenticationUI…` constants, and anything else is `errSecParam`. The default is
/// `kSecUseAuthenticationUIAllow`.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// The value lets a call ask the person, which is the default.
///
/// The call blocks its thread for as long as the person takes.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// The value makes a call that would have to ask end with ``errSecInteractionNotAllowed``.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// The value makes a search leave out the items that it would have to ask for.
///
/// A search that finds no other item answers `errSecItemNotFound`. A locked item is not left out. In an add, an update
/// or a delete the value is `errSecParam`.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The older form of ``kSecUseAuthenticationUIFail`` is a Boolean, whose value true forbids questions.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// The text is the program's reason, shown to the person when a call asks.
///
/// The dialog shows the text as one line of limited length, below the program's name. The text takes precedence over
/// the `localizedReason` of a context.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
