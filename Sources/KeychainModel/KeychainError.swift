/// A failure of a keychain operation.
///
/// ``code`` and ``status`` say what went wrong, and ``message`` what was asked, what the program holds and what to do next, in
/// English: "access group X is not among this program's (Y, Z)". None of them ever holds a secret, and a message names only
/// groups that were asked for or are held.
///
/// `localizedDescription` has the meaning of the status in the user's language, which is Japanese, Korean or else English, and
/// the message. `recoverySuggestion` has what to do.
public struct KeychainError: Error, Sendable {
    /// What went wrong, coarse enough to switch on.
    public package(set) var code: Code
    /// What went wrong this time, for a person to read.
    public package(set) var message: String
    /// The error that led to this one, if it arose in this process.
    public package(set) var cause: (any Error)?
    /// What the code on the error's way can do about it; nil: nothing but tell it.
    package var signal: Signal?
    /// Where in the source the error was created.
    package var location: SourceLocation

    package init(
        _ code: Code, message: String, cause: (any Error)? = nil, signal: Signal? = nil,
        file: String = #fileID, line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.signal = signal
        self.location = SourceLocation(file: file, line: line)
    }

    /// The first two reach callers. The others are between the parts of an engine.
    package enum Signal: Sendable, Hashable {
        /// The database itself is damaged, which a repair may mend.
        case damage
        /// The store is not where it was opened. Nothing was done, and asking where it is now may help.
        case otherHost
        /// The keys were renewed, or the lock has changed, since the operation began: it begins anew.
        case staleKeys
        /// What is enrolled has to be known. Asking the reader takes a while: the operation begins anew after that.
        case lookAtReader
        /// A person has to show something first.
        case needs(AuthenticationChallenge)
        /// To be counted, as a wrong passcode is.
        case wrongApplicationPassword
        /// The kernel takes no more keys of this user (keyrings(7)).
        case fullKeyring
    }

    package struct SourceLocation: Sendable, Hashable {
        package var file: String
        package var line: Int
    }

    /// What went wrong, as Apple's keychain tells it. New ones may be added: a `switch` needs a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Known: Int32 {
            case unimplemented = -4
            case inputOutput = -36
            case diskFull = -34
            case parameter = -50
            case allocation = -108
            case userCancelled = -128
            case noPasscode = -25260
            case notAvailable = -25291
            case readOnly = -25292
            case authenticationFailed = -25293
            case noSuchKeychain = -25294
            case duplicateItem = -25299
            case itemNotFound = -25300
            case dataTooLarge = -25302
            case noSuchAttribute = -25303
            case noSuchClass = -25306
            case interactionNotAllowed = -25308
            case decode = -26275
            case internalFailure = -26276
            case missingEntitlement = -34018
        }

        /// The `OSStatus`.
        public let status: Int32

        private init(_ known: Known) { status = known.rawValue }

        /// Also for a status that only a newer daemon knows: an unknown failure keeps its status.
        public init(status: Int32) { self.status = status }

        public var description: String {
            Known(rawValue: status).map { "\($0) (\(status))" } ?? "unknown status (\(status))"
        }

        /// What was asked is not there yet (−4, `errSecUnimplemented`).
        public static let unimplemented = Code(.unimplemented)
        /// A file could not be read or written (−36, `errSecIO`).
        public static let inputOutput = Code(.inputOutput)
        /// The disk is full (−34, `errSecDiskFull`).
        public static let diskFull = Code(.diskFull)
        /// What was asked makes no sense (−50, `errSecParam`).
        public static let parameter = Code(.parameter)
        /// There is not enough memory (−108, `errSecAllocate`).
        public static let allocation = Code(.allocation)
        /// The person declined, or the task was cancelled (−128, `errSecUserCanceled`).
        public static let userCancelled = Code(.userCancelled)
        /// What was asked only makes sense with a passcode, and none is set (−25260, `errSecPassphraseRequired`).
        public static let noPasscode = Code(.noPasscode)
        /// The keychain cannot be opened, or its daemon does not answer (−25291, `errSecNotAvailable`).
        public static let notAvailable = Code(.notAvailable)
        /// The keychain cannot be written to (−25292, `errSecReadOnly`).
        public static let readOnly = Code(.readOnly)
        /// What was shown is not right, or nobody could show it (−25293, `errSecAuthFailed`).
        public static let authenticationFailed = Code(.authenticationFailed)
        /// What was asked about belongs to another keychain, or to keys that are no more (−25294, `errSecNoSuchKeychain`).
        public static let noSuchKeychain = Code(.noSuchKeychain)
        /// There is one already (−25299, `errSecDuplicateItem`).
        public static let duplicateItem = Code(.duplicateItem)
        /// Nothing is there (−25300, `errSecItemNotFound`). An item that is locked is never told so.
        public static let itemNotFound = Code(.itemNotFound)
        /// A secret, or an answer, is too large (−25302, `errSecDataTooLarge`).
        public static let dataTooLarge = Code(.dataTooLarge)
        /// The item class has no such attribute (−25303, `errSecNoSuchAttr`).
        public static let noSuchAttribute = Code(.noSuchAttribute)
        /// There is no such item class (−25306, `errSecNoSuchClass`).
        public static let noSuchClass = Code(.noSuchClass)
        /// The keychain is locked, or a person would have to be asked and may not be (−25308,
        /// `errSecInteractionNotAllowed`).
        public static let interactionNotAllowed = Code(.interactionNotAllowed)
        /// What is stored cannot be read as what was asked for (−26275, `errSecDecode`).
        public static let decode = Code(.decode)
        /// Something is wrong with the keychain itself (−26276, `errSecInternal`).
        public static let internalFailure = Code(.internalFailure)
        /// The program does not hold the access group (−34018, `errSecMissingEntitlement`).
        public static let missingEntitlement = Code(.missingEntitlement)
    }
}

extension KeychainError: CustomStringConvertible {
    /// The `OSStatus` of ``code``.
    public var status: Int32 { code.status }

    /// The message and the status.
    public var description: String { "\(message) [\(status)]" }
}
