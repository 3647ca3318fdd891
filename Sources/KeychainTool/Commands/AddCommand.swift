internal import ArgumentParser
internal import KeychainModel

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Store a password, a key or a certificate; a password comes from standard input.",
        subcommands: [
            AddGenericCommand.self, AddInternetCommand.self, AddKeyCommand.self, AddCertificateCommand.self,
            AddIdentityCommand.self,
        ])
}

/// What the two kinds of password have in common.
struct NewPassword: ParsableArguments {
    @Option(help: "The label, for people.") var label: String?
    @Option(help: "A comment.") var comment: String?
    @Option(name: .customLong("description"), help: "The kind of password, in words.") var kindInWords: String?
    @Option(help: "The access group.") var group = "keychain"
    @OptionGroup var protection: ItemProtection
    @OptionGroup var authentication: AuthenticationOptions
    @Option(help: ArgumentHelp(Expiry.help)) var expires: Expiry?
    @Flag(help: "Mark the item as one that may be synchronized.") var sync = false
    @Flag(help: "Replace the secret and the attributes given if the item exists.") var update = false
    @Flag(help: "Take an empty secret, too.") var allowEmpty = false
    @Flag(help: "Print the item as it is stored, without its secret.") var json = false

    private var choices: [AttributeChoice] {
        [
            AttributeChoice("--label", .label, label), AttributeChoice("--comment", .comment, comment),
            AttributeChoice("--description", .description, kindInWords),
        ].compactMap(\.self)
    }

    func validate() throws {
        if group.isEmpty { throw ValidationError("An access group cannot have an empty name.") }
    }

    func store(_ itemClass: ItemClass, _ unique: [AttributeChoice?], prompt: String, in store: StoreOptions) throws {
        var request = AddRequest(itemClass)
        request.attributes = try AttributeSet(unique.compactMap(\.self) + choices, of: itemClass)
        request.accessGroup = group
        request.synchronizable = sync
        request.expires = expires?.value
        request.accessControl = try protection.accessControl()
        // Nobody types a secret that cannot be stored. The store is closed again: it does not wait for a person.
        if !update && SecretInput.isTerminal { try KeychainSession(store).requireAbsence(of: request) }
        request.secret = try SecretInput.read(prompt: prompt, allowsEmpty: allowEmpty)
        var session = try KeychainSession(store)
        let isFirst = session.presence == .absent
        let words = unique.compactMap { $0?.inWords }.joined(separator: ", ")
        session.authentication = authentication.authentication(reason: "store a secret: " + words)
        let item = update ? try session.addOrUpdate(request) : try session.add(request)
        if isFirst { session.noteIfNeverLocked() }
        if json { try Console.write(item.json.text + "\n") }
    }
}

struct AddGenericCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generic", abstract: "Store a password for a service.")

    @OptionGroup var store: StoreOptions
    @Option(help: "The service the password belongs to.") var service: String
    @Option(help: "The account name at that service.") var account: String
    @OptionGroup var password: NewPassword

    func run() throws {
        try password.store(
            .genericPassword,
            [AttributeChoice("--service", .service, service), AttributeChoice("--account", .account, account)],
            prompt: "Secret for \(account) at \(service): ", in: store)
    }
}

struct AddInternetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "internet", abstract: "Store a password for a server.")

    @OptionGroup var store: StoreOptions
    @Option(help: "The server's name.") var server: String
    @Option(help: "The account name at that server.") var account: String
    @Option(name: .customLong("protocol"), help: "The protocol, such as https.")
    var internetProtocol: InternetProtocol?
    @Option(help: "The port.") var port: UInt16?
    @Option(help: "The path.") var path: String?
    @OptionGroup var password: NewPassword

    func run() throws {
        try password.store(
            .internetPassword,
            [
                AttributeChoice("--server", .server, server), AttributeChoice("--account", .account, account),
                AttributeChoice("--protocol", .internetProtocol, internetProtocol?.code),
                AttributeChoice("--port", .port, port.map { .number(Int64($0)) }),
                AttributeChoice("--path", .path, path),
            ],
            prompt: "Secret for \(account) at \(server): ", in: store)
    }
}
