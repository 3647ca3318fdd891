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
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(reason: "show an item" + filter.inWords(after: ": "))
        let ready = session
        let item = try filter.naming {
            try ready.items(of: try ready.soleMatch(of: try filter.levels(), amongReachable: true), wantsSecrets: false)
                .first
        }
        guard let item else { throw KeychainError.unexpectedReply }
        if json { try item.writeJSON() } else { try Console.write(text(of: item)) }
    }

    private func text(of item: Item) -> String {
        var lines = Lines(indent: 20)
        lines.add("class", item.itemClass.title)
        lines.add("group", item.accessGroup)
        for entry in item.attributes.entries.sorted(by: { $0.attribute.name < $1.attribute.name }) {
            let words = entry.value.inWords(of: entry.attribute)
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

extension AttributeValue {
    fileprivate func inWords(of attribute: Attribute) -> String {
        switch self {
        case .text(let code) where attribute == .internetProtocol: InternetProtocol.name(ofCode: code)
        case .text(let text): text
        case .number(let number): String(number)
        case .date(let seconds): Timestamp.short(seconds)
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? "base64 \(bytes.base64EncodedString())"
        }
    }
}
