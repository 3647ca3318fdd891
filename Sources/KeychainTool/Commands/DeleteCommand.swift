internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSalvage

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an item, or with --all every item that matches.",
        discussion: """
            Says how many items were deleted. If nothing but the class is named it asks first. An item that asks for \
            authentication when it is read is deleted without, as on Apple's systems.

            With --expired it shows the items that have expired by the clock and whose bytes are still there, and deletes \
            them at once. Without it they go an hour after a program saw that they had expired. What is hidden only because \
            a later time was seen is left: 'keychainctl doctor --repair' brings it back.

            Examples:
              keychainctl rm mail.example --account ada
              keychainctl delete generic --service mail.example --all --dry-run
            """,
        aliases: ["rm"])

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @Flag(help: "Delete every item that matches.") var all = false
    @Flag(help: "Delete what has expired and is hidden.") var expired = false
    @Flag(help: "Do not ask before all of a class is deleted; needed where nobody can be asked.") var yes = false
    @Flag(help: "Show what would be deleted, and delete nothing.") var dryRun = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    private var needsConfirmation: Bool { !filter.isSelective && !yes && !dryRun }

    func validate() throws {
        if expired {
            if all || filter.kind != nil || filter.isSelective {
                throw ValidationError("--expired means every item that has expired, and goes with no name.")
            }
            if !yes && !dryRun && !Confirmation.isPossible {
                throw ValidationError(
                    "This deletes every item that has expired: look with --dry-run, or go on with --yes.")
            }
            return
        }
        let itemClass = try filter.requireItem()
        if needsConfirmation && !Confirmation.isPossible {
            throw ValidationError(
                "This means every \(itemClass?.title ?? "item"): name some of their attributes, or go on with --yes.")
        }
    }

    func run() throws {
        let session = try KeychainSession.existing(store)
        if expired { return try deleteExpired(session) }
        let queries = try filter.naming { try self.queries(session) }
        if dryRun { return try filter.naming { try show(queries, session) } }
        if needsConfirmation {
            try Confirmation.require(try consequence(queries, session), else: "everything is still there")
        }
        let count = try filter.naming { try queries.reduce(0) { try $0 + session.ask(.delete($1)) } }
        try DeletionReport(deleted: count).write(json: json)
        if let name = filter.name, Console.errorIsTerminal, try OneTimeItem.isBeside(name, session) {
            Console.note(
                "note: its key for one-time codes is left; 'keychainctl rm \(ShellWord.quoted(OneTimeItem.prefix + name))' deletes it"
            )
        }
    }

    /// The warning, such as "all 3 generic passwords in /home/ada/.local/share/keychain will be deleted".
    private func consequence(_ queries: [ItemQuery], _ session: KeychainSession) throws -> String {
        let itemClass = queries[0].itemClass
        guard all else { return "the only \(itemClass.title) in \(session.host.place) will be deleted" }
        let found = try session.find(queries[0])
        let count = found.items.count == 1 ? "the \(itemClass.title)" : "all \(itemClass.counted(found.items.count))"
        let more = found.hasConstrained ? ", and those that ask for authentication," : ""
        return "\(count) in \(session.host.place)\(more) will be deleted"
    }

    /// The queries for the items to delete: at least one, and no two mean the same item.
    private func queries(_ session: KeychainSession) throws -> [ItemQuery] {
        guard all else { return [try one(session)] }
        // A class with options may mean a million items, so they are deleted unseen.
        guard filter.name != nil else { return try filter.levels()[0] }
        let hits = try session.hits(of: try filter.levels())
        // A query with matches that ask for authentication means the other matches of its class, too.
        let others = hits.readable.filter { hit in !hits.asking.contains { $0.itemClass == hit.query.itemClass } }
        return hits.asking + others.map { $0.query.meaning($0.item) }
    }

    private func deleteExpired(_ session: KeychainSession) throws {
        let items = try session.askAsOwner(.expiredItems, to: "list what has expired")
        if let seen = (try? session.location())?.seenTime {
            let date = Date(timeIntervalSinceReferenceDate: seen.seconds).formatted(.iso8601)
            Console.note(
                "items that expire by \(date) are hidden because the keychain has seen that time, and are left: "
                    + "'keychainctl doctor --repair' brings them back")
        }
        guard !items.isEmpty else {
            throw KeychainError(.itemNotFound, message: "nothing that has expired is in the keychain and open")
        }
        if dryRun { return try show(items) }
        if !json { try Console.write(ItemTable(items: items.sortedForPeople, showsWholePlaces: true).text) }
        if !yes {
            try Confirmation.require(
                "\(counted(items.count, "item")) will be deleted, by this clock", else: "everything is still there")
        }
        let count = try session.askAsOwner(
            .deleteExpired(items.map(\.identifier)), to: "delete what has expired")
        try DeletionReport(deleted: count).write(json: json)
    }

    private func show(_ queries: [ItemQuery], _ session: KeychainSession) throws {
        let matches = try queries.map { try session.find($0) }
        if matches.contains(where: \.hasConstrained) {
            Console.note("items that ask for authentication are not shown, and would go too")
        }
        try show(matches.flatMap(\.items))
    }

    private func show(_ items: [Item]) throws {
        try DeletionReport(deleted: 0, matches: items.sortedForPeople).write(json: json)
    }

    private func one(_ session: KeychainSession) throws -> ItemQuery {
        let meaning: KeychainSession.Meaning
        do { meaning = try session.meaning(of: try filter.levels()) } catch let error as AmbiguousMatch {
            throw filter.name == nil ? error.adding(", or delete all of them with --all") : error
        }
        // Only a reading could count items that ask, unless the query can mean no more than one.
        if meaning.isExact || meaning.query.meansAtMostOne { return meaning.query }
        throw KeychainError(
            .interactionNotAllowed,
            message: "what matches asks for authentication, so it cannot be counted: "
                + (meaning.query.itemClass == .genericPassword
                    ? "name its --group, --service and --account, or add --all" : "add --all")
                + " to delete every match")
    }
}

private struct DeletionReport: Report {
    static let fields: [Field<Self>] = [
        Field("deleted", "how many items were deleted") { $0.deleted },
        Field("matches", "with `--dry-run`: the items that match", when: { $0.matches != nil }) { $0.matches },
    ]

    var deleted: Int
    /// nil: the items were deleted.
    var matches: [Item]?

    var text: String {
        guard let matches else { return "\(counted(deleted, "item")) deleted\n" }
        return ItemTable(items: matches, showsWholePlaces: true).text
            + "\(counted(matches.count, "item")) would be deleted\n"
    }
}

extension ItemQuery {
    /// Whether the query names all that makes an item unique. Items that ask for authentication are never
    /// synchronizable, so there is no second one of that kind.
    fileprivate var meansAtMostOne: Bool {
        if persistentReference != nil { return true }
        return accessGroup != nil
            && AttributeTable.table(for: itemClass).uniqueness.allSatisfy { rule in
                rule.attribute == .viewHint || rule.attribute == .tokenID || attributes[rule.attribute] != nil
            }
    }
}
