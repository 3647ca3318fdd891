package import FoundationEssentials

/// The proof, sent with a request, that the person in front of the machine wants it.
package struct AuthenticationProof: Sendable {
    /// A wrong passcode counts as an attempt, whatever the request.
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

/// The proof that an engine wants before it does as it was asked.
package struct AuthenticationChallenge: Sendable, Hashable {
    /// Sets of factors, each of which is enough. Factors that were shown already, and factors that cannot be shown at
    /// the moment, are left out.
    package var alternatives: [Set<AuthenticationFactor>]

    package init(_ alternatives: [Set<AuthenticationFactor>]) { self.alternatives = alternatives }
}

/// The factors that a person could be asked for.
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
