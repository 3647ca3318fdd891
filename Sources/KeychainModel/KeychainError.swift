/// A failure of a keychain operation.
///
/// The code carries Apple's `OSStatus`; the message says what was asked and what to do next.
/// Neither ever holds a secret, and a message names only groups that the caller asked for or holds.
package struct KeychainError: Error, Sendable {
    /// What went wrong, coarse enough to switch on.
    package var code: Code
    /// What went wrong this time, for a person to read.
    package var message: String
    /// The error that led to this one, if it arose in this process.
    package var cause: (any Error)?
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

    /// Apple's status for the failure; new ones may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
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
        package let status: Int32

        private init(_ known: Known) { status = known.rawValue }

        /// Also for a status that only a newer daemon knows: an unknown failure keeps its status.
        package init(status: Int32) { self.status = status }

        package var description: String {
            Known(rawValue: status).map { "\($0) (\(status))" } ?? "unknown status (\(status))"
        }

        package static let unimplemented = Code(.unimplemented)
        package static let inputOutput = Code(.inputOutput)
        package static let diskFull = Code(.diskFull)
        package static let parameter = Code(.parameter)
        package static let allocation = Code(.allocation)
        package static let userCancelled = Code(.userCancelled)
        /// Apple's errSecPassphraseRequired: what was asked only makes sense with a passcode, and none is set.
        package static let noPasscode = Code(.noPasscode)
        package static let notAvailable = Code(.notAvailable)
        package static let readOnly = Code(.readOnly)
        package static let authenticationFailed = Code(.authenticationFailed)
        /// Apple's errSecNoSuchKeychain: what was asked about belongs to another keychain, or to keys that are no more.
        package static let noSuchKeychain = Code(.noSuchKeychain)
        package static let duplicateItem = Code(.duplicateItem)
        package static let itemNotFound = Code(.itemNotFound)
        package static let dataTooLarge = Code(.dataTooLarge)
        package static let noSuchAttribute = Code(.noSuchAttribute)
        package static let noSuchClass = Code(.noSuchClass)
        package static let interactionNotAllowed = Code(.interactionNotAllowed)
        package static let decode = Code(.decode)
        package static let internalFailure = Code(.internalFailure)
        package static let missingEntitlement = Code(.missingEntitlement)
    }
}

extension KeychainError: CustomStringConvertible {
    package var description: String { "\(message) [\(code.status)]" }
}
