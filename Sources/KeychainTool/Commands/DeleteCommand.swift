internal import ArgumentParser
internal import KeychainModel

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an item, or with --all every item that matches.",
        discussion: "An item that asks for authentication when it is read is deleted without, as on Apple's systems.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @Flag(help: "Delete every item of the class that matches.") var all = false

    func validate() throws {
        _ = try filter.requireItemClass()
    }

    func run() throws {
        let query = try filter.query(for: try filter.requireItemClass())
        let session = try KeychainSession.existing(store)
        try session.delete(all ? query : try one(query, session))
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
