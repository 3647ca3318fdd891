internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show every attribute of one item, never its secret.",
        discussion: "The secret is for 'keychainctl get'.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var authentication: AuthenticationOptions
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws { _ = try filter.requireItem() }

    func run() throws {
        let consent = authentication.asking(reason: "show an item" + filter.inWords(after: ": "))
        let session = try KeychainSession.existing(store, consent)
        let item = try filter.naming {
            let query = try session.soleMatch(of: try filter.levels(), amongReachable: true)
            return try session.items(of: query, wantsSecrets: false).first
        }
        guard let item else { throw KeychainError.unexpectedReply }
        if json { try item.writeJSON() } else { try Console.write(text(of: item)) }
    }

    private func text(of item: Item) -> String {
        var lines = Lines(indent: 20)
        lines.add("class", item.itemClass.title)
        lines.add("group", item.accessGroup)
        for entry in item.attributes.entries.sorted(by: { $0.attribute.name < $1.attribute.name }) {
            let words = entry.value.text(of: entry.attribute) { bytes in
                String(validating: bytes, as: UTF8.self) ?? "base64 \(bytes.base64EncodedString())"
            }
            if !words.isEmpty { lines.add(entry.attribute.name, words) }
        }
        lines.add("accessible", item.accessControl.protection.name)
        let constraints = item.accessControl.flags.names
        if !constraints.isEmpty { lines.add("constraints", constraints.joined(separator: ", ")) }
        if item.synchronizable { lines.add("synchronizable", "yes") }
        lines.add("created", Timestamp.short(item.created))
        lines.add("modified", Timestamp.short(item.modified))
        if let expires = item.expires { lines.add("expires", Timestamp.short(expires.seconds)) }
        lines.add("reference", item.persistentReference.data.base64EncodedString())
        return lines.text
    }
}
