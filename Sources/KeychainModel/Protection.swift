/// When the key of an item is available, as Apple's accessibility classes define it.
///
/// Raw values are Apple's published short strings.
package enum Protection: String, Sendable, CaseIterable, Hashable {
    case whenUnlocked = "ak"
    case afterFirstUnlock = "ck"
    case always = "dk"
    case whenPasscodeSetThisDeviceOnly = "akpu"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"

    /// The name on the command line and in its output.
    package var name: String {
        switch self {
        case .whenUnlocked: "when-unlocked"
        case .afterFirstUnlock: "after-first-unlock"
        case .always: "always"
        case .whenPasscodeSetThisDeviceOnly: "when-passcode-set"
        case .whenUnlockedThisDeviceOnly: "when-unlocked-this-device-only"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock-this-device-only"
        case .alwaysThisDeviceOnly: "always-this-device-only"
        }
    }

    /// Whether an item of this class may leave the device.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        default: true
        }
    }

    /// The index key that makes an item of this class searchable.
    package var indexTier: IndexTier {
        switch self {
        case .always, .alwaysThisDeviceOnly: .always
        default: .afterFirstUnlock
        }
    }

    /// The number that stands for the class in stored bytes: Apple's key-class numbers.
    package var number: UInt8 {
        switch self {
        case .whenUnlocked: 6
        case .afterFirstUnlock: 7
        case .always: 8
        case .whenUnlockedThisDeviceOnly: 9
        case .afterFirstUnlockThisDeviceOnly: 10
        case .alwaysThisDeviceOnly: 11
        case .whenPasscodeSetThisDeviceOnly: 12
        }
    }

    package init?(number: UInt8) {
        guard let match = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = match
    }
}

/// The two keys under which attributes are indexed.
///
/// Rows that must be found before the first unlock are indexed under a key that is always there;
/// every other row, the "when unlocked" ones included, under a key that stays from the first unlock
/// to the reboot, so that a search can say "not found" with certainty while the device is locked.
package enum IndexTier: UInt8, Sendable, CaseIterable, Hashable {
    case afterFirstUnlock = 1
    case always = 2
}
