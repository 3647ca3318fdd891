/// What `LAContext` is to the rest of the house.
///
/// `KeychainLocalAuthentication` conforms to it and `KeychainSecurity` casts a query's context to it, so that neither
/// of the two façades needs the other.
package protocol AuthenticationContext: KeychainContext {
    /// Whether the program forbade every question to the person, as `LAContext.interactionNotAllowed` does.
    var forbidsInteraction: Bool { get }

    /// What was shown in this context so far, and how it asks for more.
    var session: AuthenticationSession { get }
}
