internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Store a password, a key or a certificate; a password comes from standard input.",
        discussion: """
            A name that is none of the commands below is that of a generic password.

            Examples:
              keychainctl add mail.example --account ada
              keychainctl add mail.example --account ada --generate
              keychainctl add mail.example --account ada --totp
              keychainctl add internet --server mail.example --account ada --protocol imaps
            """,
        subcommands: [
            AddGenericCommand.self, AddInternetCommand.self, AddKeyCommand.self, AddCertificateCommand.self,
            AddIdentityCommand.self,
        ],
        defaultSubcommand: AddGenericCommand.self,
        aliases: ["insert"])
}

/// The options that both kinds of password have.
struct NewPassword: ParsableArguments {
    @Option(help: "The label, for people.") var label: String?
    @Option(help: "A comment.") var comment: String?
    @Option(name: .customLong("description"), help: "The kind of password, in words.") var kindInWords: String?
    @Option(help: ArgumentHelp(KeychainSession.helpOfGroup)) var group: String?
    @OptionGroup var protection: ItemProtection
    @OptionGroup var authentication: AuthenticationOptions
    @Option(help: ArgumentHelp(Expiry.help)) var expires: Expiry?
    @Flag(help: "Mark the item as one that may be synchronized.") var sync = false
    @Flag(help: "Replace the secret and the attributes given if the item exists.") var update = false
    @OptionGroup var source: NewSecret
    @Flag(help: "Print the item as it is stored, without its secret.") var json = false

    private var choices: [AttributeChoice] {
        [
            AttributeChoice("--label", .label, label), AttributeChoice("--comment", .comment, comment),
            AttributeChoice("--description", .description, kindInWords),
        ].compactMap(\.self)
    }

    func validate() throws {
        try NameKind.group.require(group)
    }

    func store(_ itemClass: ItemClass, _ unique: [AttributeChoice?], prompt: String, in store: StoreOptions) throws {
        var request = AddRequest(itemClass)
        request.attributes = try AttributeSet(unique.compactMap(\.self) + choices, of: itemClass)
        request.accessGroup = try KeychainSession(store).group(group)
        request.synchronizable = sync
        request.expires = expires?.value
        request.accessControl = try protection.accessControl()
        // A person is not asked for a secret that cannot be stored. The store is closed while the person types.
        if !update && source.asks { try KeychainSession(store).requireAbsence(of: request) }
        request.secret = try source.read(prompt: prompt)
        let words = unique.compactMap { $0?.inWords }.joined(separator: ", ")
        let session = try KeychainSession(store, authentication.asking(reason: "store a secret: " + words))
        let item = try session.storing {
            update ? try session.connection.put(request, session.asking) : try session.ask(.add(request))
        }
        try source.noteIfGenerated()
        if json { try item.writeJSON() }
    }
}

struct AddGenericCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generic", abstract: "Store a password for a service.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The service the password belongs to, which is the item's name.") var name: String?
    @Option(help: "The same as an option.") var service: String?
    @Option(help: "The account name at that service.") var account: String?
    @OptionGroup var password: NewPassword

    func validate() throws {
        switch (name, service) {
        case (nil, nil): throw ValidationError("Name the item: keychainctl add NAME --account ACCOUNT.")
        case (.some(let name), .some):
            throw ValidationError("'\(name)' is no option, and beside --service it cannot be the item's name.")
        case (.some(let name), nil): try NameKind.item.require(name)
        case (nil, .some) where account == nil: throw ValidationError("--service needs --account too.")
        case (nil, .some): break
        }
        if password.source.totp && name == nil {
            throw ValidationError("--totp needs the name of the item that the codes are for.")
        }
    }

    func run() throws {
        let prefix = password.source.totp ? OneTimeItem.prefix : ""
        let itsService = prefix + (name ?? service ?? "")  // validation requires one of the two
        try password.store(
            .genericPassword,
            [AttributeChoice("--service", .service, itsService), AttributeChoice("--account", .account, account)],
            prompt: "Secret for \(account.map { $0 + " at " } ?? "")\(itsService): ", in: store)
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

    func validate() throws {
        if password.source.totp { throw ValidationError("--totp is for 'keychainctl add NAME'.") }
    }

    func run() throws {
        try password.store(
            .internetPassword,
            [
                AttributeChoice("--server", .server, server), AttributeChoice("--account", .account, account),
                AttributeChoice("--protocol", .internetProtocol, internetProtocol?.rawValue),
                AttributeChoice("--port", .port, port.map { .number(Int64($0)) }),
                AttributeChoice("--path", .path, path),
            ],
            prompt: "Secret for \(account) at \(server): ", in: store)
    }
}
