package import KeychainModel

/// The class of a protected file, which says when the file opens. The classes are those of Apple's Data Protection.
///
/// | class | existing files open | new files can be made |
/// |---|---|---|
/// | ``complete`` | while unlocked | while unlocked |
/// | ``completeUnlessOpen`` | while unlocked | always |
/// | ``completeWhenUserInactive`` | while unlocked, and for a time after a lock | as existing files open |
/// | ``completeUntilFirstUserAuthentication`` | from the first unlock on | from the first unlock on |
/// | ``always`` | always | always |
///
/// "From the first unlock on" lasts until the system restarts. With a daemon it lasts until the daemon ends.
///
/// A keychain without a passcode is never locked, and all five classes open at any time. The files are encrypted then,
/// but a person who has the device key reads them.
///
/// ```swift
/// try files.write(letter, to: url, protection: .complete)
/// try files.setProtection(.completeUnlessOpen, of: logs)  // the class of new files in a directory
/// ```
///
/// The raw value of a class is stored in the extended attribute `user.keychain.protection` of a directory that gives
/// its new files this class.
public enum FileProtection: String, Sendable, Hashable, CaseIterable {
    /// Class A, `NSFileProtectionComplete`: the file opens while the keychain is unlocked.
    ///
    /// A call that has begun before a lock has ten seconds to end. Content that a program has read stays in its memory.
    case complete
    /// Class B, `NSFileProtectionCompleteUnlessOpen`: a new file can be made while locked, and a file that is open
    /// stays open.
    ///
    /// The content is confidential, and its author is unknown: any program that may write to the directory can make
    /// such a file.
    case completeUnlessOpen
    /// Apple's class CX, `NSFileProtectionCompleteWhenUserInactive`: the file opens while the keychain is unlocked, and
    /// for a time after a lock, which is ten minutes unless the keychain's policy says otherwise. Then it is closed like
    /// a file of class A.
    ///
    /// Sleep, the end of the session and `keychainctl lock --now` end that time at once.
    case completeWhenUserInactive
    /// Class C, `NSFileProtectionCompleteUntilFirstUserAuthentication`: the file opens from the first unlock on.
    ///
    /// It is the default. It protects a machine that is switched off, and not one that is locked.
    case completeUntilFirstUserAuthentication
    /// Class D, `NSFileProtectionNone`: the file is encrypted under the device key alone, as on Apple's systems.
    ///
    /// A person who has the disk with the device key reads the file without a passcode.
    case always = "none"
}

extension FileProtection {
    /// The name on the command line and in its output.
    package var name: String {
        switch self {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeWhenUserInactive: "complete-when-user-inactive"
        case .completeUntilFirstUserAuthentication: "complete-until-first-user-authentication"
        case .always: "none"
        }
    }

    /// The compiler demands a line for a class that is new; ``fileClass`` is this table, read backwards.
    package init(_ fileClass: FileClass) {
        self =
            switch fileClass {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeWhenUserInactive: .completeWhenUserInactive
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .always: .always
            }
    }

    package var fileClass: FileClass { FileClass.allCases.first { Self($0) == self }! }
}
