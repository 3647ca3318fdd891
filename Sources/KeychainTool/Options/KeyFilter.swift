internal import ArgumentParser
internal import KeychainModel

/// Which key a command uses. The same options as those of ``ItemFilter``, as far as keys have them.
struct KeyFilter: ParsableArguments {
    @Option(help: "The tag, by which programs name their keys.") var tag: String?
    @Option(help: "The label, for people.") var label: String?
    @Option(help: ArgumentHelp("SHA-1 of the public key, as --json shows it.", valueName: "base64"))
    var applicationLabel: Base64Argument?
    @Option(help: "The access group.") var group: String?
    @Option(help: ArgumentHelp("One key, by the reference that --json shows.", valueName: "base64"))
    var reference: String?

    func validate() throws { try items.validate() }

    var items: ItemFilter {
        var items = ItemFilter(ItemKind.key.rawValue)
        (items.tag, items.label, items.applicationLabel) = (tag, label, applicationLabel)
        (items.group, items.reference) = (group, reference)
        return items
    }
}
