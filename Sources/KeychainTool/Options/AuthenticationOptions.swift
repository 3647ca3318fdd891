internal import ArgumentParser
internal import KeychainClient

/// The option whether a person may be asked for authentication.
struct AuthenticationOptions: ParsableArguments {
    @Flag(help: "Ask nobody: fail (36) where an item wants a passcode, a finger or a password.")
    var noInteraction = false

    /// - Parameter reason: The action that the person allows, as the end of "keychainctl wants to …".
    func asking(reason: String) -> Asking { .once(reason: reason, mayAsk: !noInteraction) }
}

extension Asking {
    /// Asks a person once in a run of the command. The answers serve all its calls.
    static func once(reason: String, mayAsk: Bool) -> Asking {
        let session = AuthenticationSession()
        session.wording.reason = reason
        return Asking(in: session, mayAsk: mayAsk)
    }
}
