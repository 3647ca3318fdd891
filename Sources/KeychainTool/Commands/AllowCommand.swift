internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

struct AllowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Let a project's keychain.toml or env file have secrets of the keychain.",
        discussion: """
            Shows which items the file names and which command it has, and asks. The file counts for 'keychainctl run' \
            then, until its content changes: a keychain.toml in its directory and below, an env file where it is named.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var place: ProjectPlace
    @Flag(help: "Take it back, as 'deny' does.") var remove = false
    @Flag(help: "Do not ask; needed where nobody can be asked.") var yes = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if !remove && !yes && !Confirmation.isPossible {
            throw ValidationError("Nobody can be asked here: look at the file, and go on with --yes.")
        }
    }

    func run() throws {
        if remove { return try place.deny(store, json: json) }
        let file = try place.file()
        let lines = file.linesForPeople
        if !json { for line in lines { try Console.write(line + "\n") } }
        if !yes {
            if json || !Console.outputIsTerminal { Console.show(lines) }
            try Confirmation.require(
                "'keychainctl run' will give these to commands "
                    + (place.isProject
                        ? "in \(FilePath.directory(of: file.path)) and below" : "that are started with --env-file"),
                else: "it is not allowed")
        }
        try AllowedFiles(store).allow(file)
        if json { try file.json.writeJSON() }
    }
}

struct DenyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Take back what 'keychainctl allow' allowed.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var place: ProjectPlace
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws { try place.deny(store, json: json) }
}

/// The file that `allow` or `deny` is about.
struct ProjectPlace: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A keychain.toml, its directory, or an env file; otherwise the nearest keychain.toml in the working directory or "
                + "above it.",
            valueName: "path"), completion: .file())
    var path: String?

    func validate() throws { try NameKind.file.require(path) }

    var isProject: Bool { ReferenceFile.isProject(path) }

    /// - Throws: `.itemNotFound` if the file is not there.
    func file() throws -> ReferenceFile {
        isProject ? try ReferenceFile(project: try resolvedPath()) : try ReferenceFile(environment: try resolvedPath())
    }

    private func resolvedPath() throws(KeychainError) -> String {
        try ReferenceFile.resolved(path.map { URL(namedByPerson: $0).path })
    }

    func deny(_ store: StoreOptions, json: Bool) throws {
        let path = try resolvedPath()
        try AllowedFiles(store).remove(path)
        if json { return try JSONValue.object([("path", path.json), ("allowed", false.json)]).writeJSON() }
        try Console.write("\(TerminalText.escape(path)) is not allowed any more\n")
    }
}
