/// How long a key is within reach.
package enum KeyTier: String, Sendable, CaseIterable, Hashable {
    /// The keys of this tier are there while the store is unlocked.
    case whenUnlocked = "A"
    /// The keys of this tier are there while the store is unlocked, and for a set time after a lock. They come from keys
    /// of ``whenUnlocked``, and no keybag has them.
    case whenUserInactive = "I"
    /// The keys of this tier are there from the first unlock until the system stops.
    case afterFirstUnlock = "C"
    /// The keys of this tier are always there.
    case always = "D"

    /// The tiers that a passcode protects, if one is set.
    package static let behindPasscode: [KeyTier] = [.whenUnlocked, .whenUserInactive, .afterFirstUnlock]

    /// The tiers whose keys end with a lock, or a set time after it.
    package static let endingWithLock: [KeyTier] = [.whenUnlocked, .whenUserInactive]

    /// The tiers whose keys a keybag has.
    package static let ofKeybag: [KeyTier] = [.whenUnlocked, .afterFirstUnlock, .always]
}

extension Protection {
    package var tier: KeyTier {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .whenUnlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .always, .alwaysThisDeviceOnly: .always
        }
    }
}

extension FileClass {
    /// For class B that of its private half: the public one is always there.
    package var tier: KeyTier {
        switch self {
        case .complete, .completeUnlessOpen: .whenUnlocked
        case .completeWhenUserInactive: .whenUserInactive
        case .completeUntilFirstUserAuthentication: .afterFirstUnlock
        case .always: .always
        }
    }
}
