package import KeychainModel

/// When a protected file opens. The classes are those of Apple's Data Protection.
///
/// | class | existing files open | new files can be made |
/// |---|---|---|
/// | ``complete`` | while unlocked | while unlocked |
/// | ``completeUnlessOpen`` | while unlocked | always |
/// | ``completeUntilFirstUserAuthentication`` | from the first unlock to the end of the session of the keys: a reboot, or with a daemon its end | the same |
/// | ``none`` | always | always |
///
/// Without a passcode the keychain is never locked, and all four open at any time: the files are encrypted then, but
/// whoever has the device key reads them.
public enum FileProtection: String, Sendable, Hashable, CaseIterable {
    /// Class A, `NSFileProtectionComplete`.
    case complete
    /// Class B, `NSFileProtectionCompleteUnlessOpen`. Confidential, but it does not say who made the file: whoever may
    /// write to the directory can make one.
    case completeUnlessOpen
    /// Class C, `NSFileProtectionCompleteUntilFirstUserAuthentication`: what a file gets if nothing else is said.
    case completeUntilFirstUserAuthentication
    /// Class D, `NSFileProtectionNone`: encrypted under the device key alone, as on Apple's systems.
    case none
}

extension FileProtection {
    package init(_ fileClass: FileClass) {
        self =
            switch fileClass {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .none: .none
            }
    }

    package var fileClass: FileClass {
        switch self {
        case .complete: .complete
        case .completeUnlessOpen: .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
        case .none: .none
        }
    }
}
