package import KeychainModel

/// An object that keeps a person's answers for several calls.
///
/// `Keychain.Context` of the module `SwiftKeychain` is one, and `LAContext` of the module `KeychainLocalAuthentication` is
/// another. Calls refuse an object of any other type with `.parameter`, so a program does not conform to it.
public protocol KeychainContext: AnyObject, Sendable {}

/// The side of `LAContext` that other modules see.
///
/// `KeychainLocalAuthentication` conforms to it and `KeychainSecurity` casts a query's context to it, so that neither
/// of the two façades needs the other.
package protocol AuthenticationContext: KeychainContext {
    /// Whether the program forbade every question to the person, as `LAContext.interactionNotAllowed` does.
    var forbidsInteraction: Bool { get }

    /// The answers that the person gave in this context, and the way to ask for more.
    var session: AuthenticationSession { get }
}

extension AuthenticationSession {
    /// The session of a context; nil: there is no context.
    ///
    /// - Throws: `.parameter` for an object of a type of the program's own.
    package static func of(_ context: (any KeychainContext)?) throws(KeychainError) -> AuthenticationSession? {
        guard let context else { return nil }
        guard let own = context as? any AuthenticationContext else {
            throw KeychainError(
                .parameter, message: "a context is a Keychain.Context or an LAContext, and no \(type(of: context))")
        }
        return own.session
    }
}
