/// When a protected file opens, as Apple's Data Protection defines its classes.
///
/// Raw values are the class numbers of Apple's kernel (XNU's `content_protection.h`). The cases are in the order of their
/// strength: a file of an earlier one is within reach for less of the time.
package enum FileClass: UInt8, Sendable, CaseIterable, Hashable {
    /// Class A: open while unlocked.
    case complete = 1
    /// Class B: open while unlocked; files can be created at any time.
    case completeUnlessOpen = 2
    /// Open while unlocked, and for a set time after a lock.
    case completeWhenUserInactive = 7
    /// Class C: open from the first unlock on.
    case completeUntilFirstUserAuthentication = 3
    /// Class D: always open.
    case always = 4

    /// Whether a file of it is within reach for less of the time.
    package func isStronger(than other: FileClass) -> Bool {
        Self.allCases.firstIndex(of: self)! < Self.allCases.firstIndex(of: other)!
    }

    /// Whether a file that is open closes when its class key leaves.
    package var closesWithLock: Bool { self == .complete || self == .completeWhenUserInactive }

    /// The class whose key in the keybag this class's key comes from.
    package var source: FileClass { self == .completeWhenUserInactive ? .complete : self }

    /// The classes that have a key of their own in the keybag.
    package static let ofKeybag = allCases.filter { $0.source == $0 }
}
