internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Tell what the keychain knows of this program, and which groups follow.",
        discussion: """
            With the system's keychaind these are the kernel's facts about this very process, and the groups by which it \
            judges every request. Elsewhere a program names its groups itself, and any program can name any group.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let session = try KeychainSession(store)
        try CallerReport(host: session.host, caller: try session.connection.description()).write(json: json)
    }
}

struct CallerReport: Report {
    static let fields: [Field<Self>] = [
        Field("program", "its file", term: "Program") { _ in OwnProgram.path },
        Field("host", "`embedded`, `user`, `system` or `unix:/PATH`", term: "Host") { $0.hostName },
        Field(
            "kind",
            "the evidence: `unit` (of the system's service manager), `setgid` (a group by its file), `user`, `unconfined` "
                + "(none: every such program of the user is one), `declared` (its own word)",
            term: "Known as", words: { Words($0.caller.kindInWords) }
        ) { $0.caller.kind.rawValue },
        Field("name", "of the unit, group or user, or null") { $0.caller.name },
        Field(
            "groups", "an array: the access groups that it holds; new items go to the first one", term: "Groups",
            words: { Words($0.caller.groups.isEmpty ? "none" : $0.caller.groups.joined(separator: ", ")) }
        ) { $0.caller.groups },
        Field(
            "evidence", "an array of sentences for a person", term: "Evidence",
            words: { report in
                Words(report.caller.evidence.first ?? "none", remarks: Array(report.caller.evidence.dropFirst()))
            }
        ) { $0.caller.evidence },
        Field("pid", "the number of its process") { $0.caller.pid },
        Field("uid", "the number of its user") { $0.caller.uid },
    ]

    let host: ChosenHost
    let caller: CallerDescription

    private var hostName: String { if case .daemon(let address) = host { address.name } else { "embedded" } }
}

extension CallerDescription {
    static let unconfinedGroup = "unconfined"

    var kindInWords: String {
        let name = name ?? ""
        return switch kind {
        case .declared: "what it says itself"
        case .unit: "the system unit \(name)"
        case .setgid: "a program with the group \(name)"
        case .user: "a program of the user \(name)"
        case .unconfined: "any program of this user, without an identity of its own"
        }
    }

    /// As `identity` of `status`.
    var jsonOfIdentity: JSONValue {
        .object([("authority", "groups".json), ("groups", groups.json), ("source", "daemon".json)])
    }
}
