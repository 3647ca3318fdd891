internal import ArgumentParser
internal import KeychainClient

/// Whether a person is asked for what an item's access control wants.
struct AuthenticationOptions: ParsableArguments {
    @Flag(help: "Ask nobody: fail (36) where an item wants a passcode, a finger or a password.")
    var noInteraction = false

    /// - Parameter reason: What the person allows, as the end of "keychainctl wants to …".
    func asking(reason: String) -> Asking { .once(reason: reason, mayAsk: !noInteraction) }
}

extension Asking {
    /// What a person shows to one run of the command, asked for once.
    static func once(reason: String, mayAsk: Bool) -> Asking {
        let session = AuthenticationSession()
        session.wording.reason = reason
        return Asking(in: session, mayAsk: mayAsk)
    }
}
