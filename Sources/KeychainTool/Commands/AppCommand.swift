internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainManifests
internal import KeychainModel
internal import KeychainSystem

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Show which programs the system's keychaind knows, and which groups they have.",
        discussion: """
            A program that has an identity of its own, a system unit's user or a group that its file gives it, has the \
            access groups that a manifest lists. Manifests are root's property lists in \
            /usr/share/keychain/entitlements.d and /etc/keychain/entitlements.d; a file in the latter replaces the one of \
            the same name in the former. These commands only read files, and need no keychaind.
            """,
        subcommands: [ListAppsCommand.self, ShowAppCommand.self, VerifyAppsCommand.self])
}

/// The directories in which a command looks for manifests.
struct ManifestPlaces: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Look for manifests in this directory, whose files belong to root or to you, and not where keychaind does; may "
                + "be given several times.", valueName: "directory"), completion: .directory)
    var manifests: [String] = []

    func validate() throws { try NameKind.directory.require(manifests) }

    var directories: ManifestDirectories {
        if manifests.isEmpty { return .ofSystem }
        let paths = manifests.map { URL(namedByPerson: $0, isDirectory: true).standardizedFileURL.path }
        return ManifestDirectories(paths, owner: geteuid())
    }
}

struct ListAppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the programs that have a manifest, with their access groups.",
        discussion: "A program whose manifest has a fault is refused by keychaind. 'keychainctl app verify' names it.")

    @OptionGroup var places: ManifestPlaces
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let reports = AppReport.all(in: places.directories)
        if json { return try reports.json.writeJSON() }
        if reports.isEmpty { Console.note("note: there is no manifest") }
        try Console.write(reports.map(\.line).joined())
    }
}

struct ShowAppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show all that files tell of a program that has a manifest.",
        discussion: """
            Of a group: the users that have it, and the programs in the directories of PATH that give it. The user of a \
            unit: 'systemctl show --property User NAME'.
            """)

    @Argument(help: "The unit, the group or the user, as 'keychainctl app list' names it.") var name: String
    @OptionGroup var places: ManifestPlaces
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let found = AppReport.all(in: places.directories).filter { $0.name == name }
        guard !found.isEmpty else {
            throw KeychainError(.itemNotFound, message: "no manifest is for \(name): 'keychainctl app list' shows all")
        }
        for report in found { try AppDetails(report).write(json: json) }
    }
}

struct VerifyAppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check manifests, and name each fault with its place.",
        discussion: """
            Without a file all that are installed are checked, with their owners and modes. Of a file that is not \
            installed yet the content is checked; its user or group need not exist. The status is 1 if there is a fault.
            """)

    @Argument(help: "The manifests to check.", completion: .file(extensions: ["plist"])) var files: [String] = []
    @OptionGroup var places: ManifestPlaces
    @Flag(help: "Print a JSON array of the faults; docs/cli.md lists the keys.") var json = false

    func validate() throws { try NameKind.file.require(files) }

    func run() throws {
        let installed = places.directories
        let flaws =
            files.isEmpty
            ? installed.read().flaws
            : try files.flatMap { try installed.flaws(of: URL(namedByPerson: $0).standardizedFileURL.path) }
        if json {
            try flaws.map { JSONValue.object([("file", $0.path.json), ("flaw", $0.text.json)]) }.writeJSON()
        } else {
            for flaw in flaws { try Console.write(TerminalText.escape("\(flaw.path) \(flaw.text)") + "\n") }
        }
        if !flaws.isEmpty { throw ExitCode(1) }
    }
}

/// A program that has a manifest, or a manifest whose program is not known.
struct AppReport: Report {
    static let fields: [Field<Self>] = [
        Field("kind", "`unit`, `group` or `user`; null if a faulty file does not tell", term: "Kind") {
            $0.subject?.kind
        },
        Field("name", "of the unit, the group or the user, or null", term: "Name") { $0.name },
        Field(
            "groups", "its access groups in order; new items go to the first; none with a fault", term: "Groups",
            words: { Words($0.groups.isEmpty ? "none" : $0.groups.joined(separator: ", ")) }
        ) { $0.groups },
        Field("file", "the path of the manifest", term: "Manifest") { $0.file },
        Field(
            "flaw", "why keychaind refuses the program, or null", term: "Fault",
            words: { report in report.flaw.map { "refused: the file \($0)" } }
        ) { $0.flaw },
    ]

    let subject: EntitlementManifest.Subject?
    let name: String?
    let groups: [String]
    let file: String
    let flaw: String?

    private init(_ manifest: EntitlementManifest) {
        (subject, name, groups) = (manifest.subject, manifest.subjectName, manifest.groups)
        (file, flaw) = (manifest.path, nil)
    }

    private init(_ flawed: ManifestFlaw) {
        (subject, name, groups) = (flawed.subject, flawed.subjectName, [])
        (file, flaw) = (flawed.path, flawed.text)
    }

    static func all(in directories: ManifestDirectories) -> [AppReport] {
        let (manifests, flaws) = directories.read()
        return (manifests.map(AppReport.init) + flaws.map(AppReport.init)).sorted { $0.file < $1.file }
    }

    /// A line of the list.
    var line: String {
        let program = subject.map { "\($0.kind) \(name ?? "")" } ?? "unknown"
        let right = flaw.map { "refused: \(file) \($0)" } ?? groups.joined(separator: ", ")
        return TerminalText.escape("\(program): \(right)") + "\n"
    }
}

/// All that files tell of a program.
struct AppDetails: Report {
    static let fields: [Field<Self>] =
        AppReport.fields.of { $0.report } + [
            Field(
                "members", "of a group: the users that have it, who make it no identity", term: "Members",
                words: { Words($0.members.joined(separator: ", ")) }, when: { $0.group != nil }
            ) { $0.members }
            .shown { !$0.members.isEmpty },
            Field(
                "programs",
                "of a group: the files in the directories of PATH that give it: `path`, `rootOwned` (nobody "
                    + "else can write it) and `takesEffect` (its file system is mounted without `nosuid`)",
                term: "Programs",
                words: {
                    $0.programs.isEmpty
                        ? "none in the directories of PATH"
                        : Words($0.programs[0].words, remarks: $0.programs.dropFirst().map(\.words))
                },
                when: { $0.group != nil }
            ) { $0.programs }.shown { $0.group != nil },
        ]

    let report: AppReport
    let group: gid_t?
    let members: [String]
    let programs: [SetgidProgram]

    init(_ report: AppReport) throws(SystemError) {
        self.report = report
        if case .group(let group)? = report.subject { self.group = group } else { group = nil }
        members = try group.map(AccountDatabase.members(of:)) ?? []
        programs = group.map(SetgidProgram.all) ?? []
    }
}

extension SetgidProgram: JSONConvertible {
    fileprivate var words: String {
        path + (isRoots ? "" : ", which others than root can change") + (takesEffect ? "" : ", without effect (nosuid)")
    }

    var json: JSONValue {
        .object([("path", path.json), ("rootOwned", isRoots.json), ("takesEffect", takesEffect.json)])
    }
}
