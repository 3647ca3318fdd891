package import KeychainModel

/// The reasons why a person has not shown a proof.
package enum AuthenticationFailure: Error, Sendable, Hashable {
    case declined
    /// The person would rather do something that the program itself offers.
    case fallback
    /// The program ended the question.
    case cancelled
    /// The person did not come, or the question broke off.
    case interrupted(String)
    /// The person's answer is wrong.
    case rejected(String)
    case noPasscode
    case biometryNotAvailable(String)
    case biometryNotEnrolled(String)
    case biometryLockedOut
    case interactionForbidden
    /// There is no person, or no means to ask.
    case notInteractive(String)
    case invalidContext
    /// The keychain does not answer.
    case keychain(KeychainError.Code, String)
}

extension AuthenticationFailure {
    /// The failure and the remedy, for a person.
    package var message: String {
        switch self {
        case .declined: "the person declined"
        case .fallback: "the person chose another way than those the keychain offers"
        case .cancelled: "the program ended the authentication"
        case .interrupted(let text), .rejected(let text), .notInteractive(let text), .biometryNotAvailable(let text),
            .biometryNotEnrolled(let text), .keychain(_, let text):
            text
        case .noPasscode: "there is no passcode to ask for: 'keychainctl passcode set' sets one"
        case .biometryLockedOut: "too many fingers or faces did not match, and the passcode is wanted first"
        case .interactionForbidden:
            "the item's access control asks for authentication, and the call forbids to ask for it"
        case .invalidContext: "the authentication context was invalidated"
        }
    }

    /// The error of the keychain for this failure: docs/compatibility.md has the table.
    package var keychainError: KeychainError {
        let code: KeychainError.Code =
            switch self {
            case .declined: .userCancelled
            case .interactionForbidden, .notInteractive: .interactionNotAllowed
            case .keychain(let code, _): code
            case .fallback, .cancelled, .interrupted, .rejected, .noPasscode, .biometryNotAvailable,
                .biometryNotEnrolled, .biometryLockedOut, .invalidContext:
                .authenticationFailed
            }
        return KeychainError(code, message: message)
    }

    init(_ failure: PromptFailure) {
        self =
            switch failure {
            case .declined: .declined
            case .cancelled: .cancelled
            case .unavailable(let text): .notInteractive(text)
            case .timedOut: .interrupted("nobody answered")
            case .failed(let text): .interrupted(text)
            }
    }

    init(_ failure: BiometryFailure) {
        self =
            switch failure {
            case .notAvailable(let text): .biometryNotAvailable(text)
            case .notEnrolled(let text): .biometryNotEnrolled(text)
            case .busy(let text), .failed(let text): .interrupted(text)
            case .noMatch: .rejected("what the reader saw is not enrolled")
            case .lockedOut: .biometryLockedOut
            case .cancelled: .cancelled
            case .timedOut: .interrupted("nobody came to the reader")
            }
    }
}
