internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel

/// The items that a command is about: their class, their name and the attributes that they must have.
struct ItemFilter: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The class of the item (\(ItemClass.allValueStrings.joined(separator: ", "))), or its name.",
            valueName: "class-or-name"),
        completion: ItemCompletion.classOrName)
    private var first: String?
    @Argument(
        help: ArgumentHelp("The name of the item, behind its class.", valueName: "name"),
        completion: ItemCompletion.name)
    private var second: String?

    @Option(help: "The service of a generic password.") var service: String?
    @Option(help: "The account of a password.") var account: String?
    @Option(help: "The server of an internet password.") var server: String?
    @Option(name: .customLong("protocol"), help: "The protocol of an internet password, such as https.")
    var internetProtocol: InternetProtocol?
    @Option(help: "The port of an internet password.") var port: UInt16?
    @Option(help: "The path of an internet password.") var path: String?
    @Option(help: "The label.") var label: String?
    @Option(help: "The comment of a password.") var comment: String?
    @Option(name: .customLong("description"), help: "The kind of a password, in words.") var kindInWords: String?
    @Option(help: "The tag of a key.") var tag: String?
    @Option(help: ArgumentHelp("SHA-1 of a key's public half, as --json shows it.", valueName: "base64"))
    var applicationLabel: Base64Argument?
    @Option(help: "The access group.") var group: String?
    @Option(help: "When the item can be read.") var accessible: Protection?
    @Option(help: "Whether the item is synchronizable.") var sync = ItemQuery.Synchronizable.any
    @Option(help: ArgumentHelp("One item, by the reference that --json shows.", valueName: "base64"))
    var reference: String?

    /// A filter that leaves nothing out, and names no class.
    static var every: ItemFilter {
        var filter = ItemFilter()
        (filter.first, filter.second, filter.service, filter.account, filter.server) = (nil, nil, nil, nil, nil)
        (filter.internetProtocol, filter.port, filter.path) = (nil, nil, nil)
        (filter.label, filter.comment, filter.kindInWords, filter.tag) = (nil, nil, nil, nil)
        (filter.applicationLabel, filter.group, filter.accessible) = (nil, nil, nil)
        (filter.sync, filter.reference) = (.any, nil)
        return filter
    }

    init() {}

    /// - Parameter word: A class, or a name; nil: the line has neither.
    init(_ word: String?) {
        self = .every
        first = word
    }

    /// nil: the line names no class.
    var kind: ItemClass? { first.flatMap { ItemClass(argument: $0) } }

    /// The name that a person has for the item; see ``ItemName``. nil: the line has only a class and options.
    var name: String? { kind == nil ? first : second }

    private var choices: [AttributeChoice] {
        [
            AttributeChoice("--service", .service, service), AttributeChoice("--account", .account, account),
            AttributeChoice("--server", .server, server),
            AttributeChoice("--protocol", .internetProtocol, internetProtocol?.rawValue),
            AttributeChoice("--port", .port, port.map { .number(Int64($0)) }),
            AttributeChoice("--path", .path, path), AttributeChoice("--label", .label, label),
            AttributeChoice("--comment", .comment, comment),
            AttributeChoice("--description", .description, kindInWords), AttributeChoice("--tag", .applicationTag, tag),
            AttributeChoice("--application-label", .applicationLabel, applicationLabel.map { .data($0.bytes) }),
        ].compactMap(\.self)
    }

    /// Whether the filter may leave out an item of the class.
    var isSelective: Bool {
        name != nil || !choices.isEmpty || group != nil || accessible != nil || sync != .any || reference != nil
    }

    /// The attributes that the person named: "mail.example, account ada".
    private var asked: String {
        let others = [
            ("group", group), ("accessible", accessible?.name), ("sync", sync == .any ? nil : sync.rawValue),
            ("reference", reference),
        ]
        let words =
            (name.map { [$0] } ?? []) + choices.map(\.inWords)
            + others.compactMap { name, value in value.map { "\(name) \($0)" } }
        return words.joined(separator: ", ")
    }

    /// The attributes that the person named, behind a word that leads to them; empty: the line has only the class.
    func inWords(after word: String) -> String { asked.isEmpty ? "" : word + asked }

    /// Does `body`. If there is no such item, the error has the values that the person named; the keychain's has none.
    ///
    /// - Parameter isSearch: Whether a part of a name is enough.
    func naming<Result>(isSearch: Bool = false, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as KeychainError where error.code == .itemNotFound && !asked.isEmpty {
            let title = itemClasses.count == 1 ? itemClasses[0].title : "item"
            let words = name.map(ShellWord.argument)
            let advice = isSearch ? "" : words.map { "; 'keychainctl find \($0)' searches for a part of a name" } ?? ""
            throw KeychainError(
                .itemNotFound, message: "no \(title) matches \(asked)\(advice)", cause: error)
        }
    }

    func validate() throws {
        if kind == nil, let second {
            throw ValidationError(
                "'\(first ?? "")' before '\(second)' is none of \(ItemClass.allValueStrings.joined(separator: ", ")).")
        }
        if name?.isEmpty == true { throw ValidationError("An empty name means no item.") }
        let reference = try persistentReference()
        if let kind, let reference, reference.itemClass != kind {
            throw ValidationError("The reference is that of another class: \(reference.itemClass.name).")
        }
        if let named = kind ?? reference?.itemClass {
            _ = try AttributeSet(choices, of: named)
        } else if itemClasses.isEmpty {
            throw ValidationError("No class has all of \(choices.map(\.option).joined(separator: ", ")).")
        }
    }

    /// The classes whose items can match. If the line names none, identities are left out: each is a certificate and a
    /// key that are listed already.
    var itemClasses: [ItemClass] {
        // The validation has reported a reference that cannot be read.
        if let named = kind ?? (try? persistentReference())?.itemClass { return [named] }
        return ItemClass.stored.filter { itemClass in choices.allSatisfy { $0.applies(to: itemClass) } }
    }

    /// The class of the item that a command acts on; nil: the line has only a name, which several classes may have.
    ///
    /// - Throws: a mistake on the command line, if it has no name either.
    func requireItem() throws -> ItemClass? {
        if let name, let other = choices.first(where: \.isItsName) {
            throw ValidationError(
                "'\(name)' is none of \(ItemClass.allValueStrings.joined(separator: ", ")), and beside \(other.option) it cannot be "
                    + "the item's name.")
        }
        if kind != nil || reference != nil { return itemClasses[0] }
        if name != nil { return nil }
        throw ValidationError("Name the item, or its class: \(ItemClass.allValueStrings.joined(separator: ", ")).")
    }

    /// The queries for the items that a command may act on, the likeliest meanings of a name first. Matches of one
    /// level count alike.
    ///
    /// - Parameters:
    ///   - prefix: Items with the prefix before the name come first.
    ///   - isNeeded: Whether items without the prefix are left out.
    func levels(first prefix: String? = nil, isNeeded: Bool = false) throws -> [[ItemQuery]] {
        let queries = try itemClasses.map(query(for:))
        guard let name else { return [queries] }
        let names = (prefix.map { [ItemName($0 + name)] } ?? []) + (isNeeded ? [] : [ItemName(name)])
        return try names.flatMap { name in
            try ItemName.levels.map { level in try queries.flatMap { try name.queries($0, at: level) } }
        }
    }

    /// A query for all matches of any name.
    func query(for itemClass: ItemClass) throws -> ItemQuery {
        var query = ItemQuery(itemClass)
        query.attributes = try AttributeSet(choices, of: itemClass)
        query.accessGroup = group
        query.protection = accessible
        query.persistentReference = try persistentReference()
        query.limit = .all
        query.synchronizable = sync
        return query
    }

    private func persistentReference() throws -> PersistentReference? {
        guard let reference else { return nil }
        guard let data = Data(base64Encoded: reference), let parsed = try? PersistentReference(data: data) else {
            throw ValidationError("The reference is not one that 'keychainctl find --json' shows.")
        }
        return parsed
    }
}
