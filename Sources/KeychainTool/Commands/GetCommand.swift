internal import ArgumentParser
internal import KeychainModel

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a secret to standard output, exactly its bytes and nothing else.",
        discussion: """
            On a terminal a line feed follows the secret, unless it ends with one. \
            If several items match, nothing is written and the message names their access groups. For an item that asks \
            for authentication the person is asked, by pinentry or in the terminal, or has to touch the fingerprint reader.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var authentication: AuthenticationOptions

    func validate() throws {
        if try filter.requireItemClass() == .identity {
            throw ValidationError("An identity has no bytes of its own: get its certificate or its key.")
        }
    }

    func run() throws {
        let query = try filter.query(for: try filter.requireItemClass())
        var session = try KeychainSession.existing(store)
        session.authentication = authentication.authentication(reason: "show a secret" + filter.inWords(after: ": "))
        let secret = try filter.naming { try session.secret(of: query) }
        try Console.write(secret)
        // The shell's next prompt gets a line of its own. Elsewhere nothing is added to the secret.
        if Console.outputIsTerminal && !secret.endsLine { try Console.write("\n") }
    }
}
