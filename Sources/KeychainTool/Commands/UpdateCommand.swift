internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change an item's secret or attributes.",
        discussion: """
            A name or the options of 'find' say which item; exactly one must match. What is to change follows --set-…; \
            without any of those, or with --secret, a new secret comes from standard input.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var changes: ItemChangeOptions
    @Flag(help: "Read a new secret as well.") var secret = false
    @OptionGroup var source: NewSecret
    @OptionGroup var authentication: AuthenticationOptions
    @Flag(help: "Print the item as it is then, without its secret.") var json = false

    func validate() throws {
        if let itemClass = try filter.requireItem() { try changes.check(for: itemClass) }
        if source.totp && filter.name == nil {
            throw ValidationError("--totp needs the name of the item that the codes are for.")
        }
    }

    func run() throws {
        // The key for one-time codes is an item of its own, beside the password of that name.
        let levels = try source.totp ? filter.levels(first: OneTimeItem.prefix, isNeeded: true) : filter.levels()
        // A person is asked for a secret only if the item is there. The store is closed while the person types.
        let itemClass = try filter.naming { try KeychainSession.existing(store).meaning(of: levels).query.itemClass }
        var changes = try changes.changes(of: itemClass)
        if secret || source.generate || self.changes.isEmpty {
            changes.secret = try source.read(prompt: "New secret\(filter.inWords(after: " for ")): ")
        }
        let consent = authentication.asking(reason: "change an item" + filter.inWords(after: ": "))
        let session = try KeychainSession.existing(store, consent)
        try filter.naming {
            let query = try session.soleMatch(of: levels)
            try session.ask(.update(UpdateRequest(query, changes: changes)))
            try source.noteIfGenerated()
            try noteOneTimeKey(session)
            if json, let reference = query.persistentReference,
                let item = try session.items(of: ItemQuery(exactly: reference), wantsSecrets: false).first
            {
                try item.writeJSON()
            }
        }
    }

    /// Tells the person that the item's key for one-time codes keeps the former name.
    private func noteOneTimeKey(_ session: KeychainSession) throws {
        guard let name = filter.name, let new = changes.setService, !source.totp, Console.errorIsTerminal,
            try OneTimeItem.isBeside(name, session)
        else { return }
        let prefix = OneTimeItem.prefix
        Console.note(
            "note: its key for one-time codes keeps its name; 'keychainctl update \(prefix)\(name) --set-service "
                + "\(prefix)\(new)' renames it")
    }
}

/// The new values that `update` sets.
struct ItemChangeOptions: ParsableArguments {
    @Option(help: "A new label.") var setLabel: String?
    @Option(help: "A new comment.") var setComment: String?
    @Option(help: "A new kind, in words.") var setDescription: String?
    @Option(help: "Move the item to this access group.") var setGroup: String?
    @Option(help: "A new account.") var setAccount: String?
    @Option(help: "A new service.") var setService: String?
    @Option(help: "A new server.") var setServer: String?
    @Option(help: "A new protocol.") var setProtocol: InternetProtocol?
    @Option(help: "A new port.") var setPort: UInt16?
    @Option(help: "A new path.") var setPath: String?
    @Option(help: "A new protection class.") var setAccessible: Protection?
    @Option(help: ArgumentHelp(Expiry.help)) var setExpires: Expiry?

    private var choices: [AttributeChoice] {
        [
            AttributeChoice("--set-label", .label, setLabel), AttributeChoice("--set-comment", .comment, setComment),
            AttributeChoice("--set-description", .description, setDescription),
            AttributeChoice("--set-account", .account, setAccount),
            AttributeChoice("--set-service", .service, setService),
            AttributeChoice("--set-server", .server, setServer),
            AttributeChoice("--set-protocol", .internetProtocol, setProtocol?.rawValue),
            AttributeChoice("--set-port", .port, setPort.map { .number(Int64($0)) }),
            AttributeChoice("--set-path", .path, setPath),
        ].compactMap(\.self)
    }

    var isEmpty: Bool { choices.isEmpty && setGroup == nil && setAccessible == nil && setExpires == nil }

    func validate() throws { try NameKind.group.require(setGroup) }

    func check(for itemClass: ItemClass) throws { _ = try AttributeSet(choices, of: itemClass) }

    func changes(of itemClass: ItemClass) throws -> ItemChanges {
        var changes = ItemChanges()
        changes.attributes = try AttributeSet(choices, of: itemClass)
        changes.accessGroup = setGroup
        changes.accessControl = setAccessible.map { AccessControl($0) }
        changes.expires = setExpires?.value
        return changes
    }
}
