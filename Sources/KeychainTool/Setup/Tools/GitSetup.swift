internal import Foundation
internal import KeychainSystem

enum GitSetup: ToolSetup {
    static let name = "git"
    static let summary = "credential.helper in git's own configuration"

    private static let helper = "git-credential-keychain"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        guard let git = surroundings.program("git") else { throw ToolFailure(message: "there is no git in the PATH") }
        let program = try surroundings.helper(helper)
        // git looks in the PATH for a name, and takes a path as it is.
        let isFound = surroundings.program(helper).map(surroundings.isHelper) ?? false
        let value = isFound ? "keychain" : program
        if !isFound && value.contains(where: { " '\"\\$`".contains($0) }) {
            throw ToolFailure(
                message: "git runs \(value) in a shell, which needs another path: put \(helper) into the PATH")
        }
        var plan = SetupPlan()
        let file = try SetupFile(try path(surroundings))
        let helpers = try helpers(git, file)
        if !helpers.contains(where: { isOurs($0) }) {
            plan.change(file, TextEdit(from: file.content ?? Data(), to: try adding(value, git, file)))
        }
        for other in helpers where !other.isEmpty && !isOurs(other) {
            plan.notes.append(
                "git has the helper '\(other)' too, and stores every password in it as well: 'git config --global --unset "
                    + "credential.helper \(other)' takes it out")
        }
        let stored = try surroundings.home(".git-credentials")
        if access(stored, F_OK) == 0 {
            plan.notes.append("\(stored) has passwords in plain text: remove it when git has asked for them once more")
        }
        return plan
    }

    private static func isOurs(_ value: String) -> Bool {
        let program = value.split(separator: " ").first.map { FilePath.name(of: String($0)) }
        return program == "keychain" || program == helper
    }

    /// The file that 'git config --global' writes to (git-config(1), FILES).
    private static func path(_ surroundings: SetupSurroundings) throws -> String {
        if let path = surroundings.variable("GIT_CONFIG_GLOBAL") { return path }
        let (usual, other) = (try surroundings.home(".gitconfig"), try surroundings.configuration("git/config"))
        return access(usual, F_OK) != 0 && access(other, F_OK) == 0 ? other : usual
    }

    private static func helpers(_ git: String, _ file: SetupFile) throws -> [String] {
        guard file.content != nil else { return [] }
        let (status, output) = try run(git, "config", "--file", file.path, "--get-all", "credential.helper")
        // 1: there is none.
        guard status == 0 || status == 1 else { throw ToolFailure(message: "git does not understand \(file.path)") }
        return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The file's content as git would write it.
    private static func adding(_ value: String, _ git: String, _ file: SetupFile) throws -> Data {
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("keychain-setup-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: copy) }
        let config = copy.appendingPathComponent("config")
        try (file.content ?? Data()).write(to: config)
        let (status, _) = try run(git, "config", "--file", config.path, "--add", "credential.helper", value)
        guard status == 0 else { throw ToolFailure(message: "git could not change a copy of \(file.path)") }
        return try Data(contentsOf: config)
    }

    private static func run(_ git: String, _ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: git)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
