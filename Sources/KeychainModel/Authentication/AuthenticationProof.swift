package import Foundation

/// What comes with a request to show that the person in front of the machine wants it.
package struct AuthenticationProof: Sendable {
    /// Counts as an attempt if it is wrong, whatever the request.
    package var passcode: SecretBytes?
    /// The password that a program chose for an item.
    package var applicationPassword: SecretBytes?
    package var ticket: BiometryTicket?

    package init(
        passcode: SecretBytes? = nil, applicationPassword: SecretBytes? = nil, ticket: BiometryTicket? = nil
    ) {
        self.passcode = passcode
        self.applicationPassword = applicationPassword
        self.ticket = ticket
    }

    package var isEmpty: Bool { passcode == nil && applicationPassword == nil && ticket == nil }
}

/// Stands for a finger or a face that the engine's side has seen. It is worth something to the caller that was given it
/// alone, until the keychain is locked, the caller gives it back, or its time is over.
package struct BiometryTicket: Sendable, Hashable {
    package let identifier: UUID

    package init(_ identifier: UUID) { self.identifier = identifier }

    /// As long as Apple lets an unlock with a finger be reused (`LATouchIDAuthenticationMaximumAllowableReuseDuration`).
    package static let lifetime = Duration.seconds(300)
}

/// What an engine wants to be shown before it does what was asked.
package struct AuthenticationChallenge: Sendable, Hashable {
    /// Sets of factors, each of which is enough. What was shown already, and what nobody could show at the moment, is left
    /// out.
    package var alternatives: [Set<AuthenticationFactor>]

    package init(_ alternatives: [Set<AuthenticationFactor>]) { self.alternatives = alternatives }
}

/// What a person could be asked for.
package struct AuthenticationStatus: Sendable, Hashable {
    package enum Biometry: Sendable, Hashable {
        case ready(BiometryEnrolment)
        case notEnrolled(BiometryKind, String)
        /// After too many that were not enrolled. The passcode ends it.
        case lockedOut(BiometryKind)
        case notAvailable(String)
    }

    package var hasPasscode: Bool
    package var biometry: Biometry

    package init(hasPasscode: Bool, biometry: Biometry) {
        self.hasPasscode = hasPasscode
        self.biometry = biometry
    }
}
