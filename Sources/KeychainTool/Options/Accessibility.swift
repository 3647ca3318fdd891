internal import ArgumentParser
internal import KeychainModel

/// The protection classes by their names on the command line and in JSON.
enum Accessibility: String, CaseIterable, ExpressibleByArgument {
    case whenUnlocked = "when-unlocked"
    case afterFirstUnlock = "after-first-unlock"
    case always
    case whenPasscodeSet = "when-passcode-set"
    case whenUnlockedThisDeviceOnly = "when-unlocked-this-device-only"
    case afterFirstUnlockThisDeviceOnly = "after-first-unlock-this-device-only"
    case alwaysThisDeviceOnly = "always-this-device-only"

    init(_ protection: Protection) {
        self =
            switch protection {
            case .whenUnlocked: .whenUnlocked
            case .afterFirstUnlock: .afterFirstUnlock
            case .always: .always
            case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSet
            case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
            case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
            }
    }

    var protection: Protection {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        case .always: .always
        case .whenPasscodeSet: .whenPasscodeSetThisDeviceOnly
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
        }
    }

    static var defaultCompletionKind: CompletionKind { .list(allCases.map(\.rawValue)) }
}
