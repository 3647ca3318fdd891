/// The reason why a keychain operation failed, with a code for programs and texts for a person.
///
/// ```swift
/// do {
///     try keychain.set("s3cret", for: "token")
/// } catch KeychainError.interactionNotAllowed {
///     // The keychain is locked. Try again after the unlock.
/// } catch {
///     print(error.message)
///     print(error.recoverySuggestion ?? "")
/// }
/// ```
///
/// ``code`` and ``status`` tell the kind of failure. ``message`` tells in English the request, the program's rights and
/// the next step, such as "access group X is not among this program's (Y, Z)". `localizedDescription` has the meaning
/// of the status in the user's language (Japanese, Korean, or else English) together with the message, and
/// `recoverySuggestion` has the remedy.
///
/// Two errors are equal if their codes are. As an `NSError` it has the domain `NSOSStatusErrorDomain` and the status as
/// its code.
///
/// No text ever holds a secret, and a message names only groups that were asked for or are held. A call that fails
/// changes nothing, unless its documentation says otherwise.
public struct KeychainError: Error, Sendable {
    /// The kind of failure. A program compares this, never ``message``, whose words may change.
    public package(set) var code: Code
    /// The particular failure, in English, for a person or a log.
    public package(set) var message: String
    /// The error that led to this one, if it arose in this process. With a daemon it is usually `nil`.
    public package(set) var cause: (any Error)?
    /// The hint for code on the error's way through the library. `nil` means that the error is only passed on.
    package var signal: Signal?

    /// Makes an error, for code that stands in for a keychain in tests.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The particular failure, in English. `nil` takes the name of the code.
    ///   - cause: The error that led to this one.
    public init(_ code: Code, message: String? = nil, cause: (any Error)? = nil) {
        self.init(code, message: message ?? code.description, cause: cause, signal: nil)
    }

    package init(_ code: Code, message: String, cause: (any Error)? = nil, signal: Signal?) {
        self.code = code
        self.message = message
        self.cause = cause
        self.signal = signal
    }

    /// The hints for code on an error's way. The first two reach callers; the others stay between the parts of an
    /// engine.
    package enum Signal: Sendable, Hashable {
        /// The database itself is damaged, which a repair may mend.
        case damage
        /// The store is not where it was opened. Nothing was done, and asking for its new place may help.
        case otherHost
        /// The keys were renewed, or the lock has changed, since the operation began. The operation begins again.
        case staleKeys
        /// The enrolled fingers or faces have to be known. Asking the reader takes a while, and the operation begins
        /// again after it.
        case lookAtReader
        /// A person has to show something first.
        case needs(AuthenticationChallenge)
        /// An application password was wrong, and is counted as a wrong passcode is.
        case wrongApplicationPassword
        /// A newer release has written it.
        case newerFormat
        /// The keybag does not open: it is damaged, or another store's, or the device key is.
        case unusableKeybag
        /// The kernel takes no more keys of this user (keyrings(7)).
        case fullKeyring
        /// The secrets to be opened take so many bytes of memory, and the caller has fewer. The request was not carried
        /// out.
        case needsMemory(Int)
        /// A key in the engine is there and does not open: it is damaged, or the fingers that it asks for are enrolled no more.
        case worthlessKey
        /// The daemon has no place for another connection.
        case noPlace(isLocked: Bool, hasNoPasscode: Bool)
        /// The daemon said nothing for as long as a call waits.
        case silent
        /// The daemon works without an end.
        case unfinished
        /// The caller claims to own the store, and has to show it.
        case needsOwner

        /// Whether asking again would take as long.
        package var isOfWaiting: Bool { self == .silent || self == .unfinished }
    }

    /// The kinds of failure, with Apple's numbers. New ones may be added, so a `switch` needs a `default`.
    ///
    /// ```swift
    /// switch error.code {
    /// case .interactionNotAllowed: waitForUnlock()
    /// case .userCancelled: break
    /// default: show(error)
    /// }
    /// ```
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

        /// Apple's `OSStatus`, for instance −25300.
        public let status: Int32
        /// Tells the cancellation of a task from a person's: Apple has one number for both.
        private var isOfTask = false

        private init(_ known: Known) { status = known.rawValue }

        /// Makes a code of any number. A number that this version does not know keeps its value, such as one of a newer
        /// daemon.
        ///
        /// - Parameter status: Apple's `OSStatus`.
        public init(status: Int32) { self.status = status }

        /// The name of the code and its number, for a log.
        public var description: String {
            if isOfTask { return "taskCancelled (\(status))" }
            return Known(rawValue: status).map { "\($0) (\(status))" } ?? "unknown status (\(status))"
        }

        /// The operation does not exist in this version (−4, `errSecUnimplemented`). A file or store may also come from
        /// a newer version.
        public static let unimplemented = Code(.unimplemented)
        /// A file could not be read or written (−36, `errSecIO`).
        public static let inputOutput = Code(.inputOutput)
        /// The disk is full (−34, `errSecDiskFull`). Reading and removing items still work.
        public static let diskFull = Code(.diskFull)
        /// The request is not valid (−50, `errSecParam`). It is a mistake of the program, and `message` names it.
        public static let parameter = Code(.parameter)
        /// There is not enough memory (−108, `errSecAllocate`).
        public static let allocation = Code(.allocation)
        /// The person declined (−128, `errSecUserCanceled`).
        public static let userCancelled = Code(.userCancelled)
        /// The program cancelled the task that the call was made in (−128, `errSecUserCanceled`). The call did nothing.
        public static let taskCancelled: Code = {
            var code = Code(.userCancelled)
            code.isOfTask = true
            return code
        }()
        /// The operation needs a passcode, and none is set (−25260, `errSecPassphraseRequired`).
        public static let noPasscode = Code(.noPasscode)
        /// The keychain cannot be opened, or its daemon does not answer (−25291, `errSecNotAvailable`).
        ///
        /// It is also thrown when other programs change an item all the time. `keychainctl doctor` tells more.
        public static let notAvailable = Code(.notAvailable)
        /// The keychain cannot be written to (−25292, `errSecReadOnly`).
        public static let readOnly = Code(.readOnly)
        /// A passcode, password or finger is wrong, or none can be shown (−25293, `errSecAuthFailed`).
        public static let authenticationFailed = Code(.authenticationFailed)
        /// The file or item belongs to another keychain, or to keys that were destroyed (−25294,
        /// `errSecNoSuchKeychain`).
        public static let noSuchKeychain = Code(.noSuchKeychain)
        /// There is one already (−25299, `errSecDuplicateItem`): an item with these unique attributes, or a passcode.
        public static let duplicateItem = Code(.duplicateItem)
        /// There is no such item (−25300, `errSecItemNotFound`). A locked item is never reported so.
        public static let itemNotFound = Code(.itemNotFound)
        /// A secret, or an answer, is too large (−25302, `errSecDataTooLarge`). An item has at most 64 MiB, and a
        /// passcode 1,024 bytes.
        public static let dataTooLarge = Code(.dataTooLarge)
        /// The item class has no such attribute (−25303, `errSecNoSuchAttr`).
        public static let noSuchAttribute = Code(.noSuchAttribute)
        /// There is no such item class (−25306, `errSecNoSuchClass`).
        public static let noSuchClass = Code(.noSuchClass)
        /// The keychain is locked, or a person would have to be asked and may not be (−25308,
        /// `errSecInteractionNotAllowed`).
        ///
        /// The item is still there. The call succeeds after the unlock.
        public static let interactionNotAllowed = Code(.interactionNotAllowed)
        /// The stored bytes cannot be read as the type that was asked for, or they are damaged (−26275,
        /// `errSecDecode`).
        public static let decode = Code(.decode)
        /// The keychain itself is at fault (−26276, `errSecInternal`). Please report it with the message.
        public static let internalFailure = Code(.internalFailure)
        /// The program does not hold the access group (−34018, `errSecMissingEntitlement`).
        ///
        /// Name the group in the entitlements or in `KeychainConfiguration.accessGroups`.
        public static let missingEntitlement = Code(.missingEntitlement)
    }
}

extension KeychainError: CustomStringConvertible {
    /// Apple's `OSStatus` of ``code``, as `SecItemAdd` and its relatives return it.
    public var status: Int32 { code.status }

    /// The message and the status in one line, for a log.
    public var description: String { "\(message) [\(status)]" }
}
