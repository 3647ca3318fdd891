internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Tell where the keychain is, what it holds and what protects it.",
        discussion: "A few lines; with --verbose what each part does not protect, too. It never makes a store.")

    @OptionGroup var store: StoreOptions
    @Flag(name: .shortAndLong, help: "Tell everything, with the limits of the protection.") var verbose = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let session = try KeychainSession(store)
        let granted = try session.connection.granted()
        let report = StatusReport(
            host: session.host, daemon: try Self.daemon(of: session),
            status: try Self.status(of: session), identity: try session.connection.identity(), granted: granted,
            unmoved: granted == nil ? nil : session.unmoved)
        if json || verbose { return try report.write(json: json) }
        try Console.write(report.summary)
    }

    /// nil: the engine would be in this process. The command does not open it, because that would make a store.
    private static func daemon(of session: KeychainSession) throws -> DaemonInUse? {
        guard case .daemon(let address) = session.host else { return nil }
        return try session.connection.daemon().map { DaemonInUse(address: address, welcome: $0) }
    }

    /// nil: there is no store.
    private static func status(of session: KeychainSession) throws -> StoreStatus? {
        switch session.presence {
        case .absent: return nil
        case .incomplete(let missing):
            throw KeychainError(
                .notAvailable,
                message: "the keychain in \(session.host.place) is not whole: its file \(missing) is missing; run "
                    + "'keychainctl doctor'")
        case .present:
            return try session.connection.ask(.status)
        }
    }
}

/// The report of `status`.
struct StatusReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("exists", "whether there is a store; without one `storeID` to `lock` are missing") {
                $0.status != nil
            },
            Field(
                "store", "the store's directory", term: "Store",
                words: { report in
                    let note = report.status == nil ? " (there is none yet; the first 'add' makes it)" : ""
                    return Words(report.storePath + note)
                }
            ) { $0.storePath },
        ] + StoreStatus.fields.of { $0.status } + [
            Field<DeviceKeyOrigin>(
                "deviceKey",
                "`kind`, which is `file` or `credential` (one that systemd hands to a service), and `path`",
                term: "Device key", words: { Words($0.inWords, remarks: ["Limit: " + $0.limit]) }
            ) { $0 }.of { $0.deviceKey },
            Field(
                "host", "`embedded`, `user`, `system` or `unix:/PATH`", term: "Host",
                words: { Words($0.hostInWords, remarks: ["Limit: " + $0.hostLimit]) }
            ) { $0.daemon?.address.name ?? "embedded" },
            Field<DaemonInUse>("daemon", "with a daemon: `socket`, `processID`, `release`") { $0 }.of { $0.daemon },
            .line("Elsewhere") { $0.unmoved.map { Words($0.text, remarks: [$0.advice]) } },
            .line("Acting as") { $0.standing },
            Field(
                "identity",
                "`authority` (`owner`, or with the system's keychaind `groups`); `groups`, the groups that the command "
                    + "would have as a program like any other; `source`, where these groups come from: `code`, "
                    + "`embedded-entitlements`, `entitlements-file`, `bundle-identifier`, `executable-name`, `daemon`",
                term: "Groups", words: { Words($0.groups) }
            ) { $0.granted.map(\.jsonOfIdentity) ?? $0.identity.json },
        ]

    var host: ChosenHost
    /// nil: the engine is in this process.
    var daemon: DaemonInUse?
    /// nil: there is no store yet.
    var status: StoreStatus?
    var identity: CallerIdentity
    /// The command as the system's daemon knows it; nil: another host.
    var granted: CallerDescription?
    /// Items that are not in the keychain of that daemon.
    var unmoved: StoreFinding?

    /// The reach of the command.
    private var standing: Words {
        guard let granted else { return "the owner of the store: this command reaches the items of every access group" }
        return Words(
            "\(granted.kindInWords): this command reaches the items of its groups. What concerns all items asks the owner "
                + "for the passcode")
    }

    /// The limits between programs, for the person.
    private var hostLimit: String {
        if granted != nil {
            return
                "a program with an identity of its own keeps its items from all others of this user; every other program "
                + "shares the group \(Caller.unconfinedGroup). Keys, files and device key are out of reach of "
                + "this user's programs. A program gives whoever starts it what it prints."
        }
        return daemon == nil
            ? "the keychain runs inside each program that uses it. Access groups keep honest programs apart; any program "
                + "of this user can name any group, and read the store's files and the device key."
            : "all programs of this user share its access groups: these keep honest programs apart, and any program can "
                + "name any group. Keys are in the daemon's memory, which no other program of this user can read; the "
                + "store's files and the device key belong to this user."
    }

    /// The origin of the store's device key, or of the one that a new store would get.
    private var deviceKey: DeviceKeyOrigin? {
        if let status { return status.deviceKey }
        guard case .embedded(let location) = host else { return nil }
        return .file(location.deviceKeyDirectory.appendingPathComponent("device-key").path)
    }

    private var storePath: String { status?.storePath ?? host.place }

    private var hostInWords: String {
        guard let daemon else { return "embedded: in each program that uses it" }
        return (granted == nil ? "" : "the system's ")
            + "keychaind \(daemon.welcome.release), process \(daemon.welcome.processID), at \(daemon.address.path)"
    }

    /// The short form for every day.
    fileprivate var summary: String {
        var lines = Lines()
        guard let status else {
            lines.add("Keychain", "there is none yet; the first 'add' makes it")
            lines.add("Store", storePath)
            lines.add("Host", hostInWords)
            return lines.text
        }
        let lock = status.lock
        let counts = status.counts.filter { $0.1 > 0 }
        lines.add("Keychain", lock.stateInShort, emphasizing: lock.isOpen ? nil : lock.stateInShort.untilColon)
        lines.add("Items", counts.isEmpty ? "none" : counts.map { $0.counted($1) }.joined(separator: ", "))
        lines.add("Passcode", lock.passcodeInShort)
        lines.add("Locks", lock.lockingInShort, emphasizing: "nothing")
        lines.add("Host", hostInWords)
        lines.add("Store", storePath)
        if status.waits { lines.add("Version", status.versionInWords) }
        if let unmoved { lines.add("Elsewhere", unmoved.text) }
        return lines.text
    }

    private var groups: String {
        if let granted {
            return granted.groups.joined(separator: ", ") + " (by the daemon: 'keychainctl whoami' says why)"
        }
        let names = identity.caller.groups.isEmpty ? "none" : identity.caller.groups.joined(separator: ", ")
        return "as a program like any other it would hold \(names) (\(identity.source.inJSONAndWords.words))"
    }
}

struct DaemonInUse: Keyed {
    static let fields: [Field<Self>] = [
        Field("socket", "the path of its socket") { $0.address.path },
        Field("processID", "its number") { $0.welcome.processID },
        Field("release", "its version") { $0.welcome.release },
    ]

    var address: DaemonAddress
    var welcome: DaemonWelcome
}

extension CallerIdentity: Keyed {
    static let fields: [Field<Self>] = [
        Field("authority", "`owner`") { _ in "owner" },
        Field("groups", "the groups of a program like any other") { $0.caller.groups },
        Field("source", "where these groups come from") { $0.source.inJSONAndWords.name },
    ]
}

extension CallerIdentity.Source {
    fileprivate var inJSONAndWords: (name: String, words: String) {
        switch self {
        case .code: ("code", "set by the program itself")
        case .embeddedEntitlements: ("embedded-entitlements", "from the entitlements embedded in the program")
        case .entitlementsFile(let path): ("entitlements-file", "from \(path)")
        case .bundleIdentifier: ("bundle-identifier", "the program's bundle identifier; no entitlements")
        case .executableName: ("executable-name", "the program's name; no entitlements")
        }
    }
}

extension StoreStatus: Keyed {
    static let fields: [Field<Self>] =
        [
            Field("storeID", "a UUID", term: "Store id") { $0.storeID.uuidString.lowercased() },
            Field(
                "schemaVersion", "the version of its tables", term: "Schema",
                words: { Words("version \($0.versionInWords)") }
            ) { $0.schemaVersion },
            Field(
                "knownSchemaVersion",
                "the latest version that this release can make of it; a higher one than `schemaVersion` comes when "
                    + "something needs it; 0 if an earlier keychaind does not say so"
            ) { $0.knownSchemaVersion },
            Field(
                "leastRelease",
                "the first release whose programs open it; empty if an earlier keychaind does not say so"
            ) { $0.leastRelease },
            Field(
                "items", "how many of each: `generic`, `internet`, `certificate`, `key`", term: "Items",
                words: { status in
                    Words(status.counts.map { $0.counted($1) }.joined(separator: ", "))
                }
            ) { JSONValue.object($0.counts.map { ($0.name, $1.json) }) },
            size,
            Field("keyMemoryLocked", "whether the keys are in memory that is never swapped out") {
                $0.keyMemory != .ordinary
            },
            Field(
                "keyMemory",
                "`secret`: memory that the kernel itself does not read; `locked`: never swapped out; `ordinary`",
                term: "Keys", words: { Words($0.keyMemory.inWords) }
            ) { $0.keyMemory.rawValue },
            Field("lock", "an object: see below") { $0.lock },
        ] + LockStatus.fields.map { $0.line.of { $0.lock } }

    private static let size = Field<Self>(
        "bytesOnDisk", "the size of the database and its log; 0 with the system's keychaind", term: "On disk",
        words: { Words(ByteCount.text($0.bytesOnDisk)) }
    ) { $0.bytesOnDisk }.shown { $0.bytesOnDisk > 0 }

    /// Whether nothing has needed the latest version yet.
    var waits: Bool { schemaVersion < knownSchemaVersion }

    var versionInWords: String {
        "\(schemaVersion)" + (waits ? " (\(knownSchemaVersion) is not needed yet)" : "")
            + (leastRelease.isEmpty ? "" : ": programs with release \(leastRelease) or later inside open it")
    }

    fileprivate var counts: [(ItemClass, Int)] { ItemClass.stored.map { ($0, itemCounts[$0] ?? 0) } }
}

extension KeyMemoryKind {
    fileprivate var inWords: String {
        switch self {
        case .secret: "in memory that the kernel itself does not read"
        case .locked: "in locked memory"
        case .ordinary: "in memory that can be swapped out"
        }
    }
}

extension DeviceKeyOrigin: Keyed {
    static let fields: [Field<Self>] = [
        Field("kind", "`file` or `credential`") { $0.name }, Field("path", "its place") { $0.path },
    ]

    private var name: String { if case .file = self { "file" } else { "credential" } }

    private var path: String {
        switch self {
        case .file(let path), .credential(let path): path
        }
    }

    fileprivate var inWords: String {
        if case .file = self { path } else { "\(path), a credential that systemd hands to this service" }
    }

    /// The limit of this place for the key.
    fileprivate var limit: String {
        switch self {
        case .file:
            "a file key does not protect against a thief of the whole disk or home, who has this file too. It "
                + "protects a copy of the store that was taken without it."
        case .credential:
            "a credential is as safe as its source: sealed to this machine if systemd-creds encrypted it, otherwise "
                + "a file like any other."
        }
    }
}
