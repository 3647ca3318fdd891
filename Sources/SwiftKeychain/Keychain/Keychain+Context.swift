public import FoundationEssentials
package import KeychainClient
internal import KeychainModel

extension Keychain {
    /// The answers of a person, kept for several calls: one question is enough for all calls with this object.
    ///
    /// ```swift
    /// let context = Keychain.Context(reason: "to pay the bill")
    /// var bank = Keychain(service: "com.example.bank")
    /// bank.context = context
    /// let pin = try bank.string(for: "pin")      // asks
    /// let code = try bank.string(for: "code")    // does not ask again
    /// ```
    ///
    /// A passcode is kept in memory that is erased with the object. A finger or a face counts for five minutes, and
    /// until the keychain is locked. The object protects nothing from the program itself. It may be used by several
    /// threads and tasks.
    public final class Context: AuthenticationContext {
        package let session = AuthenticationSession()
        package var forbidsInteraction: Bool { session.isInvalidated }

        /// Makes a context without answers.
        ///
        /// - Parameter reason: The reason for questions, as the person reads it. `nil` gives none.
        public init(reason: String? = nil) { session.wording.reason = reason }

        /// Sets a password of the program's own, for items that have one as part of their key.
        ///
        /// The password is copied into memory that is erased with the context. It is tried when an item is read, and a
        /// wrong one makes that call throw `.authenticationFailed`.
        ///
        /// - Parameter password: The password. `nil` removes it.
        public func setApplicationPassword(_ password: (some ContiguousBytes)?) {
            session.setApplicationPassword(password.map { SecretBytes($0) })
        }

        /// Takes back every question that is being asked, and forgets all answers. The context cannot be used any more.
        ///
        /// A call that was asking throws `.authenticationFailed`. Any thread may call this, and calling it twice does
        /// no harm.
        public func invalidate() { session.invalidate() }
    }
}
