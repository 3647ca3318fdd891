/// When a protected file opens, as Apple's Data Protection defines its classes.
///
/// Raw values are the class numbers of Apple's kernel (XNU's `content_protection.h`).
package enum FileClass: UInt8, Sendable, CaseIterable, Hashable {
    /// Class A: open while unlocked.
    case complete = 1
    /// Class B: open while unlocked; files can be created at any time.
    case completeUnlessOpen = 2
    /// Class C: open from the first unlock on.
    case completeUntilFirstUserAuthentication = 3
    /// Class D: always open.
    case always = 4

    /// Whether a file of it is within reach for less of the time.
    package func isStronger(than other: FileClass) -> Bool { rawValue < other.rawValue }
}
