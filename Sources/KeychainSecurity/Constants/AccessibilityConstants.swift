public import Foundation

// When an item is available: values of `kSecAttrAccessible`, and the protection of an access control. Items with a
// value `…ThisDeviceOnly` never leave the device: no export has them, synchronizable or not.

/// The item is available while the keychain is unlocked.
///
/// The code is `ak`. Passwords and keys have this accessibility unless an add names another one. While the keychain is
/// locked, a search, an add or an update ends with `errSecInteractionNotAllowed`. A keychain without a passcode is
/// never locked.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// The item is available from the first unlock until the machine restarts, also while the keychain is locked.
///
/// The code is `ck`. Work in the background needs this accessibility. Before the first unlock, calls end with
/// `errSecInteractionNotAllowed`. The end of a daemon counts like a restart of the machine.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// The item is available in every state, also before the first unlock.
///
/// The code is `dk`. Certificates have this accessibility unless an add names another one. The passcode protects
/// nothing of such an item: a copy of the store and its device key is enough to read it.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// The item is available while the keychain is unlocked, and only as long as the keychain has a passcode.
///
/// The code is `akpu`. Without a passcode an add or an update ends with `errSecAuthFailed`. The removal of the passcode
/// deletes the item. No export takes the item along.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// The item is available while the keychain is unlocked, and no export takes it along.
///
/// The code is `aku`. The rule concerns exports alone: a copy of the store and its device key opens on another machine,
/// with the passcode if one is set.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// The item is available from the first unlock until the machine restarts, and no export takes it along.
///
/// The code is `cku`. The rule concerns exports alone: a copy of the store and its device key opens on another machine,
/// with the passcode if one is set.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// The item is available in every state, and no export takes it along.
///
/// The code is `dku`. The passcode protects nothing of such an item: a copy of the store and its device key is enough
/// to read it.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
