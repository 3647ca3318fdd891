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
        let paths = files.map { URL(namedByPerson: $0).standardizedFileURL.path }
        let flaws =
            files.isEmpty
            ? installed.read().flaws
            : try paths.flatMap { path in
                installed.contains(path)
                    ? installed.read().flaws.filter { $0.concerns(path) } : try Self.flaws(of: path)
            }
        if json {
            try flaws.map { JSONValue.object([("file", $0.path.json), ("flaw", $0.text.json)]) }.writeJSON()
        } else {
            for flaw in flaws { try Console.write(TerminalText.escape("\(flaw.path) \(flaw.text)") + "\n") }
        }
        if !flaws.isEmpty { throw ExitCode(1) }
    }

    /// The flaws of a file that is not installed.
    private static func flaws(of path: String) throws(KeychainError) -> [ManifestFlaw] {
        guard let file = try OwnFile.open(URL(fileURLWithPath: path), O_RDONLY, of: .anybody) else {
            throw KeychainError(.itemNotFound, message: "there is no file \(path)")
        }
        defer { close(file) }
        guard let bytes = OpenDescriptor.content(of: file, most: EntitlementManifest.mostBytes + 1) else {
            throw KeychainError(file: path, "read", errno)
        }
        do throws(ManifestFlaw) {
            // A package makes its accounts only when it is installed.
            _ = try EntitlementManifest(bytes, path: path, accounts: .ofAnySystem)
            return []
        } catch {
            return [error]
        }
    }
}
