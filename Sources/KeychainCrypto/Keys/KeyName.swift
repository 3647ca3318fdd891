package import KeychainModel

/// The keys a store has, one of each in every generation.
package enum KeyName: Sendable, Hashable {
    case file(FileClass)
    case itemClass(Protection)
    case index(IndexTier)

    /// Apple's class numbers, 1 to 4 for files and 6 to 12 for items; 32 and 33 for the index keys.
    ///
    /// Apple's number 7 is a class of files and one of items. The key of that class of files is in no keybag, and has
    /// the number 5 here.
    package var number: UInt8 {
        switch self {
        case .file(.completeWhenUserInactive): 5
        case .file(let fileClass): fileClass.rawValue
        case .itemClass(let protection): protection.number
        case .index(let tier): 31 + tier.rawValue
        }
    }

    /// nil for a number that no entry of a keybag has.
    package init?(number: UInt8) {
        if let fileClass = FileClass(rawValue: number), FileClass.ofKeybag.contains(fileClass) {
            self = .file(fileClass)
        } else if let protection = Protection(number: number) {
            self = .itemClass(protection)
        } else if number > 31, let tier = IndexTier(rawValue: number - 31) {
            self = .index(tier)
        } else {
            return nil
        }
    }

    /// How long the key is within reach.
    package var tier: KeyTier {
        switch self {
        case .file(let fileClass): fileClass.tier
        case .itemClass(let protection): protection.tier
        case .index(.afterFirstUnlock): .afterFirstUnlock
        case .index(.always): .always
        }
    }

    package static let all: [KeyName] = (0...UInt8.max).compactMap(KeyName.init(number:))

    /// Whether the key is there only while a passcode is set.
    package var needsPasscode: Bool { self == .itemClass(.whenPasscodeSetThisDeviceOnly) }

    var isOfFiles: Bool {
        if case .file = self { true } else { false }
    }

    /// Whether the key is the private half of a pair whose other half is always there.
    var hasPublicHalf: Bool { self == .file(.completeUnlessOpen) }
}
