internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainSecurity

extension LAContext {
    /// Returns the sets of factors that each satisfy a policy; without any set nothing satisfies it.
    static func alternatives(_ policy: LAPolicy) -> [Set<AuthenticationFactor>] {
        switch policy {
        case .deviceOwnerAuthentication: [[.biometry], [.passcode]]
        // There is no companion device.
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            [[.biometry]]
        case .deviceOwnerAuthenticationWithCompanion: []
        }
    }

    /// Makes sure that a person could satisfy the policy at the moment.
    ///
    /// - Throws: The reason why they could not.
    func requireShowable(_ policy: LAPolicy, over connection: Connection) throws(AuthenticationFailure) {
        if isInvalidated { throw .invalidContext }
        let alternatives = Self.alternatives(policy)
        _ = try connection.requireShowable(alternatives)
    }

    static func error(_ failure: AuthenticationFailure, for policy: LAPolicy? = nil) -> LAError {
        LAError(code(failure, policy), userInfo: [NSLocalizedDescriptionKey: failure.message])
    }

    private static func code(_ failure: AuthenticationFailure, _ policy: LAPolicy?) -> LAError.Code {
        if policy == .deviceOwnerAuthenticationWithCompanion, case .notInteractive = failure {
            return .companionNotAvailable
        }
        return switch failure {
        case .declined: .userCancel
        case .fallback: .userFallback
        case .cancelled: .appCancel
        case .interrupted: .systemCancel
        case .rejected: .authenticationFailed
        case .noPasscode: .passcodeNotSet
        case .biometryNotAvailable: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLockedOut: .biometryLockout
        case .interactionForbidden, .notInteractive: .notInteractive
        case .invalidContext: .invalidContext
        case .keychain(let code, _): code == .authenticationFailed ? .authenticationFailed : .systemCancel
        }
    }
}
