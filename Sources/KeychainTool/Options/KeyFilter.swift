internal import ArgumentParser
internal import KeychainModel

/// The key that a command uses. Its options are those of ``ItemFilter`` that keys have.
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
        var items = ItemFilter(ItemClass.key.name)
        (items.tag, items.label, items.applicationLabel) = (tag, label, applicationLabel)
        (items.group, items.reference) = (group, reference)
        return items
    }
}
