internal import ArgumentParser
internal import Foundation
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

struct AllowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Let a project's keychain.toml have secrets of the keychain.",
        discussion: """
            Shows which items the file names and which command it has, and asks. 'keychainctl run' takes notice of the \
            file then, in its directory and below, until its content changes.
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
        let project = try Project(try place.existingPath())
        let report = ProjectReport(path: project.path, content: try project.content())
        if !json { try Console.write(report.text) }
        if !yes {
            if json { Console.note(report.text) }
            try Confirmation.require(
                "'keychainctl run' will give these to commands in \(FilePath.directory(of: project.path)) and below",
                else: "it is not allowed")
        }
        try AllowedProjects(store).allow(project)
        if json { try Console.write(report.json(isAllowed: true, digest: project.digest).text + "\n") }
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

/// Which project a command is about.
struct ProjectPlace: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The file, or its directory; otherwise the nearest keychain.toml in the working directory or above it.",
            valueName: "path"), completion: .file(extensions: ["toml"]))
    var path: String?

    func validate() throws {
        if path == "" { throw ValidationError("A file cannot have an empty name.") }
    }

    /// - Throws: `.itemNotFound` if there is none.
    func existingPath() throws -> String {
        if path != nil { return try namedPath() }
        let directory = try Project.workingDirectory()
        guard let found = Project.path(in: directory) else {
            throw KeychainError(
                .itemNotFound, message: "there is no \(ProjectFile.name) in \(directory) or above it")
        }
        return found
    }

    /// Its directory without links. The file itself need not be there, and may be a link, which reading it refuses.
    private func namedPath() throws -> String {
        let given = URL(namedByPerson: path ?? ".").path
        var isDirectory: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: given, isDirectory: &isDirectory)
        let directory = isThere && isDirectory.boolValue ? given : FilePath.directory(of: given)
        let name = isThere && isDirectory.boolValue ? ProjectFile.name : FilePath.name(of: given)
        guard name == ProjectFile.name else {
            throw KeychainError(.parameter, message: "\(given) is no \(ProjectFile.name), and no directory with one")
        }
        return FilePath.join(URL(fileURLWithPath: directory).resolvingSymlinksInPath().path, name)
    }

    func deny(_ store: StoreOptions, json: Bool) throws {
        let path = try path == nil ? existingPath() : namedPath()
        try AllowedProjects(store).remove(path)
        let report = JSONValue.object([("path", .string(path)), ("allowed", .boolean(false))])
        try Console.write(json ? report.text + "\n" : "\(TerminalText.escape(path)) is not allowed any more\n")
    }
}
