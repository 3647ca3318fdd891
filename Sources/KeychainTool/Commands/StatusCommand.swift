internal import ArgumentParser
internal import Foundation
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
        let report = StatusReport(
            host: session.host, daemon: try Self.daemon(of: session),
            status: try Self.status(of: session), identity: try session.connection.identity())
        try Console.write(json ? report.json.text + "\n" : verbose ? report.text : report.summary.text)
    }

    /// nil: the engine would be in this process. The command does not open it, because that would make a store.
    private static func daemon(of session: KeychainSession) throws -> DaemonWelcome? {
        guard case .daemon = session.host else { return nil }
        return try session.connection.daemon()
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

/// The report of `status`, in words and as JSON.
struct StatusReport {
    var host: ChosenHost
    /// nil: the engine is in this process.
    var daemon: DaemonWelcome?
    /// nil: there is no store yet.
    var status: StoreStatus?
    var identity: CallerIdentity

    /// The limits between programs, for the person.
    private var hostLimit: String {
        daemon == nil
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
        guard let daemon, case .daemon(let address) = host else { return "embedded: in each program that uses it" }
        return "keychaind \(daemon.release), process \(daemon.processID), at \(address.path)"
    }

    // MARK: Words

    var summary: StatusSummary { StatusSummary(status: status, storePath: storePath, host: hostInWords) }

    var text: String {
        var lines = Lines()
        lines.add("Store", status == nil ? "\(storePath) (there is none yet; the first 'add' makes it)" : storePath)
        if let status {
            lines.add("Store id", status.storeID.uuidString.lowercased())
            lines.add("Schema", "version \(status.schemaVersion)")
            let counts = ItemClass.stored.map { $0.counted(status.itemCounts[$0] ?? 0) }
            lines.add("Items", counts.joined(separator: ", "))
            lines.add("On disk", ByteCount.text(status.bytesOnDisk))
            lines.add("Keys", status.keyMemory.inWords)
        }
        if let status { LockReport(status: status.lock).add(to: &lines) }
        if let deviceKey {
            lines.add("Device key", deviceKey.inWords)
            lines.add("", "Limit: " + deviceKey.limit)
        }
        lines.add("Host", hostInWords)
        lines.add("", "Limit: " + hostLimit)
        lines.add("Acting as", "the owner of the store: this command reaches the items of every access group")
        lines.add("Groups", groups)
        return lines.text
    }

    private var groups: String {
        let names = identity.caller.groups.isEmpty ? "none" : identity.caller.groups.joined(separator: ", ")
        return "as a program like any other it would hold \(names) (\(origin))"
    }

    private var origin: String {
        switch identity.source {
        case .code: "set by the program itself"
        case .embeddedEntitlements: "from the entitlements embedded in the program"
        case .entitlementsFile(let path): "from \(path)"
        case .bundleIdentifier: "the program's bundle identifier; no entitlements"
        case .executableName: "the program's name; no entitlements"
        }
    }

    // MARK: JSON

    var json: JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("exists", .boolean(status != nil)), ("store", .string(storePath)),
        ]
        if let status {
            let counts = ItemClass.stored.map { itemClass in
                (key: ItemKind(itemClass).rawValue, value: JSONValue.number(Int64(status.itemCounts[itemClass] ?? 0)))
            }
            members += [
                ("storeID", .string(status.storeID.uuidString.lowercased())),
                ("schemaVersion", .number(Int64(status.schemaVersion))), ("items", .object(counts)),
                ("bytesOnDisk", .number(status.bytesOnDisk)),
                ("keyMemoryLocked", .boolean(status.keyMemory != .ordinary)),
                ("keyMemory", .string(status.keyMemory.rawValue)),
                ("lock", LockReport(status: status.lock).json),
            ]
        }
        if let deviceKey { members.append(("deviceKey", deviceKey.json)) }
        members += hostMembers
        members += [
            (
                "identity",
                .object([
                    ("authority", .string("owner")),
                    ("groups", .array(identity.caller.groups.map(JSONValue.string))),
                    ("source", .string(sourceName)),
                ])
            )
        ]
        return .object(members)
    }

    private var hostMembers: [(key: String, value: JSONValue)] {
        guard let daemon, case .daemon(let address) = host else { return [("host", .string("embedded"))] }
        return [
            ("host", .string(address.name)),
            (
                "daemon",
                .object([
                    ("socket", .string(address.path)), ("processID", .number(Int64(daemon.processID))),
                    ("release", .string(daemon.release)),
                ])
            ),
        ]
    }

    private var sourceName: String {
        switch identity.source {
        case .code: "code"
        case .embeddedEntitlements: "embedded-entitlements"
        case .entitlementsFile: "entitlements-file"
        case .bundleIdentifier: "bundle-identifier"
        case .executableName: "executable-name"
        }
    }
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

extension DeviceKeyOrigin {
    fileprivate var inWords: String {
        switch self {
        case .file(let path): path
        case .credential(let path): "\(path), a credential that systemd hands to this service"
        }
    }

    /// The limit of this place for the key.
    fileprivate var limit: String {
        switch self {
        case .file:
            "a file key does not protect against a thief of the whole home directory, who has this file too. It "
                + "protects a copy of the store that was taken without it."
        case .credential:
            "a credential is as safe as its source: sealed to this machine if systemd-creds encrypted it, otherwise "
                + "a file like any other."
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .file(let path): .object([("kind", .string("file")), ("path", .string(path))])
        case .credential(let path): .object([("kind", .string("credential")), ("path", .string(path))])
        }
    }
}
