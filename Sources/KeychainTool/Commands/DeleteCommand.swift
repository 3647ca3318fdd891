internal import ArgumentParser
internal import KeychainModel

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an item, or with --all every item that matches.",
        discussion: """
            Says how many items were deleted. If nothing but the class is named it asks first. An item that asks for \
            authentication when it is read is deleted without, as on Apple's systems.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @Flag(help: "Delete every item of the class that matches.") var all = false
    @Flag(help: "Do not ask before all of a class is deleted; needed where nobody can be asked.") var yes = false
    @Flag(help: "Show what would be deleted, and delete nothing.") var dryRun = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    private var needsConfirmation: Bool { !filter.isSelective && !yes && !dryRun }

    func validate() throws {
        let itemClass = try filter.requireItemClass()
        if needsConfirmation && !Confirmation.isPossible {
            throw ValidationError(
                "This means every \(itemClass.title): name some of their attributes, or go on with --yes.")
        }
    }

    func run() throws {
        var query = try filter.query(for: try filter.requireItemClass())
        let session = try KeychainSession.existing(store)
        if !all { query = try filter.naming { try one(query, session) } }
        if dryRun { return try filter.naming { try show(query, session) } }
        if needsConfirmation {
            let meant = all ? "every" : "the only"
            try Confirmation.require(
                "\(meant) \(query.itemClass.title) will be deleted", else: "everything is still there")
        }
        let count = try filter.naming { try session.delete(query) }
        let report = JSONValue.object([("deleted", .number(Int64(count)))])
        try Console.write(json ? report.text + "\n" : "\(counted(count, "item")) deleted\n")
    }

    private func show(_ query: ItemQuery, _ session: KeychainSession) throws {
        let matches = try session.find(query)
        if matches.hasConstrained { Console.note("items that ask for authentication are not shown, and would go too") }
        let sorted = matches.items.sortedForPeople
        if json {
            let report = JSONValue.object([("deleted", .number(0)), ("matches", .array(sorted.map(\.json)))])
            return try Console.write(report.text + "\n")
        }
        try Console.write(ItemTable(items: sorted).text)
        try Console.write("\(counted(sorted.count, "item")) would be deleted\n")
    }

    private func one(_ query: ItemQuery, _ session: KeychainSession) throws(KeychainError) -> ItemQuery {
        if let exact = try session.soleReadableMatch(of: query) { return exact }
        // Nobody can say how many there are without reading them, except where only one is possible.
        if query.meansAtMostOne { return query }
        throw KeychainError(
            .interactionNotAllowed,
            message: "what matches asks for authentication, so it cannot be counted: "
                + (query.itemClass == .genericPassword
                    ? "name its --group, --service and --account, or add --all" : "add --all")
                + " to delete every match")
    }
}

extension ItemQuery {
    /// Whether it names everything that makes an item unique. Items that ask for authentication are never
    /// synchronizable, so there is no second one of that kind.
    fileprivate var meansAtMostOne: Bool {
        if persistentReference != nil { return true }
        return accessGroup != nil
            && AttributeTable.table(for: itemClass).uniqueness.allSatisfy { rule in
                rule.attribute == .viewHint || rule.attribute == .tokenID || attributes[rule.attribute] != nil
            }
    }
}
