internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

/// Whether a person is asked for what an item's access control wants.
struct AuthenticationOptions: ParsableArguments {
    @Flag(help: "Ask nobody: fail (36) where an item wants a passcode, a finger or a password.")
    var noInteraction = false

    func authentication(reason: String) -> CommandAuthentication {
        CommandAuthentication(reason: reason, mayAsk: !noInteraction)
    }
}

/// What a person shows to one run of the command, asked for once.
struct CommandAuthentication {
    private let session = AuthenticationSession()
    private let mayAsk: Bool

    /// - Parameter reason: What the person allows, as the end of "keychainctl wants to …".
    init(reason: String, mayAsk: Bool) {
        self.mayAsk = mayAsk
        session.wording.reason = reason
    }

    func perform(_ request: Request, over connection: Connection) throws(KeychainError) -> Reply {
        try connection.performAsking(request, in: session, mayAsk: mayAsk)
    }
}
