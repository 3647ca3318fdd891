internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "List items and their attributes, never their secrets.",
        discussion: """
            Without a class every class is searched that has the attributes named. A text that is no class is searched \
            for in all of an item's names and texts, in capitals or not; options mean the whole attribute.

            Examples:
              keychainctl ls
              keychainctl find mail
              keychainctl find internet mail --account ada
            """,
        aliases: ["ls"])

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @Flag(help: "List items that ask for authentication too, and ask for it.") var ask = false
    @Option(
        help: ArgumentHelp("Certificates that have expired, or expire within a time such as 30d.", valueName: "time"))
    var expiring: EndsWithin?
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        guard expiring != nil else { return }
        guard filter.itemClasses.contains(.certificate) || filter.itemClasses == [.identity] else {
            throw ValidationError("--expiring is for certificates and identities.")
        }
    }

    func run() throws {
        var items: [Item] = []
        var ends: [UUID: CertificateEnd] = [:]
        do {
            let consent = Asking(
                in: AuthenticationSession(), reason: "list items" + filter.inWords(after: ": "), mayAsk: ask)
            let session = try KeychainSession.existing(store, consent)
            (items, ends) = try filter.naming(isSearch: true) { try certificates(among: try search(session), session) }
        } catch let error as KeychainError where error.code == .itemNotFound && json {
            try Console.write("[]\n")
            throw error
        }
        if !json && Console.errorIsTerminal && items.contains(where: \.isKeptInEngine) {
            Console.note("note: +engine marks keys that never leave the keychain; 'keychainctl key' uses them there")
        }
        let sorted = items.sortedForPeople
        if json { return try sorted.map { FoundItem(item: $0, end: ends[$0.identifier]) }.writeJSON() }
        try Console.write(ItemTable(items: sorted, ends: ends).text)
    }

    /// The items and the ends of their certificates. The option for expiring ones leaves out all others.
    private func certificates(
        among items: [Item], _ session: KeychainSession
    ) throws -> ([Item], [UUID: CertificateEnd]) {
        let now = Date()
        let ends = try session.certificateEnds(of: items, now: now)
        guard let expiring else { return (items, ends) }
        let last = now + TimeInterval(expiring.seconds)
        let due = items.filter { ends[$0.identifier].map { $0.date <= last } ?? false }
        guard !due.isEmpty else {
            throw KeychainError(.itemNotFound, message: "no certificate has expired, or expires within that time")
        }
        return (due, ends)
    }

    private func search(_ session: KeychainSession) throws -> [Item] {
        var found = FoundWithoutAsking()
        var absence: KeychainError?
        let part = filter.name.map(NamePart.init)
        for itemClass in filter.itemClasses where expiring == nil || itemClass.hasCertificate {
            do {
                let matches = try session.find(try filter.query(for: itemClass), asks: ask)
                found.items += part.map { part in matches.items.filter(part.isIn) } ?? matches.items
                found.hasConstrained = found.hasConstrained || matches.hasConstrained
            } catch let error as KeychainError where error.code == .itemNotFound {
                absence = error
            }
        }
        if found.items.isEmpty {
            if found.hasConstrained { throw KeychainError.consentNeeded }
            // The error of a class is the whole answer only if one class was asked.
            if let absence, filter.itemClasses.count == 1 { throw absence }
            throw KeychainError(.itemNotFound, message: "no item matches", cause: absence)
        }
        if found.hasConstrained {
            Console.complain("items that ask for authentication are not shown: --ask asks for it")
        }
        return found.items
    }
}

private struct FoundItem: Keyed {
    static let fields = Item.fields.of { (found: Self) in found.item } + CertificateEnd.fields.of { $0.end }

    var item: Item
    var end: CertificateEnd?
}

extension ItemClass {
    var hasCertificate: Bool { self == .certificate || self == .identity }
}
