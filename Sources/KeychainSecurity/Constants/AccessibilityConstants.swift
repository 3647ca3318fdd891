public import Foundation

// When an item is available: values of `kSecAttrAccessible`, and the protection of an access control.
// Those of `…ThisDeviceOnly` never leave the device: no export has them, synchronizable or not.

nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// From the first unlock until the machine restarts, also while it is locked: for work in the background.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Even before the first unlock, so the passcode protects nothing of it.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// While unlocked, and only as long as there is a passcode: without one an add fails.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
