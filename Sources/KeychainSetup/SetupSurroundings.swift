internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem

/// The places of a tool's files and programs.
struct SetupSurroundings {
    var environment = Environment.process
    /// The directory of this command.
    var programDirectory = FilePath.directory(of: ProcessInfo.processInfo.arguments.first ?? "")

    /// Shows a note to the person.
    let note: (String) -> Void

    init(note: @escaping (String) -> Void = { _ in }) {
        self.note = note
        if let path = SetupChange.target(of: "/proc/self/exe") { programDirectory = FilePath.directory(of: path) }
    }

    func variable(_ name: String) -> String? { environment.variables[name].flatMap { $0.isEmpty ? nil : $0 } }

    func home(_ path: String) throws -> String {
        try environment.directory("", inHome: path).path
    }

    func configuration(_ path: String) throws -> String {
        try environment.directory("XDG_CONFIG_HOME", inHome: ".config").appendingPathComponent(path).path
    }

    // MARK: Programs

    private var searchPath: SearchPath { SearchPath(variable("PATH")) }

    func isInSearchPath(_ directory: String) -> Bool {
        searchPath.directories.contains { FilePath.isSame($0, directory) }
    }

    /// The program that a tool would find by its name; nil: there is none.
    func program(_ name: String) -> String? { searchPath.program(name) }

    /// The path of a helper, in the PATH or installed beside this command.
    ///
    /// - Parameter other: The helper that the tool asks for, if that is another name of the same program.
    /// - Throws: ``SetupFailure`` if the helper is not found.
    func helper(_ name: String, toInstall other: String? = nil) throws -> String {
        let beside = [programDirectory, programDirectory + "/../libexec/keychain"]
        let found = [program(name), SearchPath(directories: beside).program(name)].compactMap(\.self)
        guard let path = found.first(where: isHelper) else {
            throw SetupFailure(
                message:
                    "there is no \(other ?? name) of the keychain, neither in the PATH nor in \(programDirectory): install it "
                    + "with Scripts/install-helpers")
        }
        return path
    }

    /// Requires a helper in the PATH, for tools that look for it only by its name.
    func requireInSearchPath(_ name: String) throws {
        let path = try helper(name)
        guard let found = program(name), isHelper(found) else {
            throw SetupFailure(
                message: "\(path) is not in the PATH, where alone the tool looks for it: install it with "
                    + "Scripts/install-helpers, or put its directory into the PATH")
        }
    }

    /// Whether a program is a helper of this project, which is another name of the command, and not another program of the
    /// same name.
    func isHelper(_ path: String) -> Bool {
        Self.withoutLinks(path).map(FilePath.name) == "keychainctl"
    }

    /// nil: the path leads nowhere.
    static func withoutLinks(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
