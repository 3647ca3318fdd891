public import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// An ``LAError`` has this domain when it is seen as `NSError`.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// The error says why a person was not authenticated.
///
/// An `NSError` of ``LAErrorDomain`` casts to it with `as? LAError`, and `catch LAError.userCancel` catches errors of
/// that code.
public struct LAError: _BridgedStoredNSError {
    /// The error in Foundation's form has the code and the description.
    public let _nsError: NSError

    /// Makes an error from Foundation's form, and ends the program if that is of another domain.
    public init(_nsError error: NSError) {
        precondition(error.domain == LAErrorDomain, "an LAError is of the domain \(LAErrorDomain)")
        _nsError = error
    }

    /// The domain of every error of this type is ``LAErrorDomain``.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// A code says why a person was not authenticated, with Apple's numbers.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The codes belong to errors of this type.
        public typealias _ErrorType = LAError

        /// The person showed an unknown finger, or wrong passcodes.
        ///
        /// Three wrong passcodes in one evaluation end it, and so does a wait after wrong ones. The code is −1.
        case authenticationFailed = -1
        /// The person declined to authenticate.
        ///
        /// The code is −2.
        case userCancel = -2
        /// The person chose the fallback, and the policy has no passcode to fall back to.
        ///
        /// The title of the choice is `LAContext.localizedFallbackTitle`. The code is −3.
        case userFallback = -3
        /// The evaluation broke off without an answer of the person.
        ///
        /// No person came, the reader was busy or broke off, or the keychain does not answer. The code is −4.
        case systemCancel = -4
        /// The policy asks for the keychain's passcode, and none is set.
        ///
        /// The command `keychainctl passcode set` sets one. The code is −5.
        case passcodeNotSet = -5
        /// The machine has no reader of fingers or faces, or its service does not answer.
        ///
        /// The code is −6.
        case biometryNotAvailable = -6
        /// The reader knows no finger or face of the user.
        ///
        /// The code is −7.
        case biometryNotEnrolled = -7
        /// Too many fingers or faces did not match, and the passcode is necessary first.
        ///
        /// The code is −8.
        case biometryLockout = -8
        /// The program invalidated the context during the evaluation.
        ///
        /// The code is −9.
        case appCancel = -9
        /// The program invalidated the context before the evaluation, or while an answer was on its way.
        ///
        /// The code is −10.
        case invalidContext = -10
        /// The policy asks for a companion device, which does not exist here.
        ///
        /// The code is −11.
        case companionNotAvailable = -11
        /// No evaluation has this code here: Apple's systems have it for a reader that is not paired.
        ///
        /// The code is −12.
        case biometryNotPaired = -12
        /// No evaluation has this code here: Apple's systems have it for a reader that is not connected.
        ///
        /// The code is −13.
        case biometryDisconnected = -13
        /// No evaluation has this code here: Apple's systems have it for views of a wrong size.
        ///
        /// The code is −14.
        case invalidDimensions = -14
        /// The person cannot be asked, or may not be.
        ///
        /// The context forbids questions, there is neither dialog nor terminal, or nothing on this machine satisfies
        /// the access control. The code is −1004.
        case notInteractive = -1004

        /// The older name stands for `biometryNotAvailable`.
        public static let touchIDNotAvailable = biometryNotAvailable
        /// The older name stands for `biometryNotEnrolled`.
        public static let touchIDNotEnrolled = biometryNotEnrolled
        /// The older name stands for `biometryLockout`.
        public static let touchIDLockout = biometryLockout
        /// The older name stands for `companionNotAvailable`.
        public static let watchNotAvailable = companionNotAvailable
    }
}

extension LAError {
    /// The pattern `catch LAError.authenticationFailed` catches an error for a wrong finger or passcodes.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The pattern `catch LAError.userCancel` catches an error for a person's refusal.
    public static var userCancel: Code { .userCancel }
    /// The pattern `catch LAError.userFallback` catches an error for the choice of the fallback.
    public static var userFallback: Code { .userFallback }
    /// The pattern `catch LAError.systemCancel` catches an error for an evaluation that broke off.
    public static var systemCancel: Code { .systemCancel }
    /// The pattern `catch LAError.passcodeNotSet` catches an error for a missing passcode.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// The pattern `catch LAError.biometryNotAvailable` catches an error for a missing reader.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// The pattern `catch LAError.biometryNotEnrolled` catches an error for a reader that knows no finger or face of
    /// the user.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// The pattern `catch LAError.biometryLockout` catches an error for a reader that is locked after wrong fingers.
    public static var biometryLockout: Code { .biometryLockout }
    /// The pattern `catch LAError.appCancel` catches an error for a context that was invalidated meanwhile.
    public static var appCancel: Code { .appCancel }
    /// The pattern `catch LAError.invalidContext` catches an error for a context that was invalidated before.
    public static var invalidContext: Code { .invalidContext }
    /// The pattern `catch LAError.companionNotAvailable` catches an error for a missing companion device.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// The pattern `catch LAError.biometryNotPaired` catches an error for a reader that is not paired, which does not
    /// occur here.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The pattern `catch LAError.biometryDisconnected` catches an error for a reader that is not connected, which does
    /// not occur here.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// The pattern `catch LAError.invalidDimensions` catches an error for views of a wrong size, which does not occur
    /// here.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// The pattern `catch LAError.notInteractive` catches an error for a person who cannot or may not be asked.
    public static var notInteractive: Code { .notInteractive }
    /// The older name stands for `biometryNotAvailable`.
    public static var touchIDNotAvailable: Code { .touchIDNotAvailable }
    /// The older name stands for `biometryNotEnrolled`.
    public static var touchIDNotEnrolled: Code { .touchIDNotEnrolled }
    /// The older name stands for `biometryLockout`.
    public static var touchIDLockout: Code { .touchIDLockout }
    /// The older name stands for `companionNotAvailable`.
    public static var watchNotAvailable: Code { .watchNotAvailable }
}
