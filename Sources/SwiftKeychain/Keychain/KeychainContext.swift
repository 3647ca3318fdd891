public import Foundation
internal import KeychainModel

/// What a person has shown to the program, for several calls. ``Keychain/Context`` is one; `LAContext` of the module
/// `KeychainLocalAuthentication` is another. No other type is taken.
public protocol KeychainContext: AnyObject, Sendable {}

extension Keychain {
    /// What a person has shown to the program, for several calls: one question is enough for all calls with the same context.
    ///
    /// ```swift
    /// let context = Keychain.Context(reason: "to pay the bill")
    /// var bank = Keychain(service: "com.example.bank")
    /// bank.context = context
    /// ```
    ///
    /// A passcode that was typed is kept in memory that is erased with the context.
    public final class Context: AuthenticationContext {
        package let session = AuthenticationSession()
        package var forbidsInteraction: Bool { session.isInvalidated }

        /// - Parameter reason: Why the program asks, as the person is told; nil: nothing is said.
        public init(reason: String? = nil) { session.wording.reason = reason }

        /// Sets a password of the program's own, for items that have one as part of their key. It is copied; the copy is
        /// erased with the context.
        ///
        /// - Parameter password: nil: there is none any more.
        public func setApplicationPassword(_ password: (some ContiguousBytes)?) {
            session.setApplicationPassword(password.map { SecretBytes($0) })
        }

        /// Ends every question that is being asked, and forgets what was shown. The context is of no use any more.
        public func invalidate() { session.invalidate() }
    }
}

enum KeychainContexts {
    /// - Throws: `.parameter` for a type of the program's own.
    static func session(of context: (any KeychainContext)?) throws(KeychainError) -> AuthenticationSession? {
        guard let context else { return nil }
        guard let own = context as? any AuthenticationContext else {
            throw KeychainError(
                .parameter, message: "a context is a Keychain.Context or an LAContext, and no \(type(of: context))")
        }
        return own.session
    }
}
