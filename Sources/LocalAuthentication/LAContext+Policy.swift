internal import Foundation

extension LAContext {
    /// Why the policy cannot be evaluated.
    func obstacle(to policy: LAPolicy) -> LAError {
        if isInvalidated { return Self.error(.invalidContext, "the context was invalidated") }
        switch policy {
        case .deviceOwnerAuthentication:
            return Self.error(.passcodeNotSet, "there is no passcode that the person could be asked for")
        case .deviceOwnerAuthenticationWithCompanion:
            return Self.error(.companionNotAvailable, "there is no companion device")
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            return Self.error(.biometryNotAvailable, "there is no reader of fingers or faces")
        }
    }

    private static func error(_ code: LAError.Code, _ message: String) -> LAError {
        LAError(code, userInfo: [NSLocalizedDescriptionKey: message])
    }
}
