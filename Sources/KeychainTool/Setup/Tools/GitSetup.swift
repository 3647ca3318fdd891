internal import Foundation
internal import KeychainFiles
internal import KeychainSystem

enum GitSetup: ToolSetup {
    static let name = "git"
    static let summary = "credential.helper in git's own configuration"

    private static let helper = GitValue.helper
    private static let variable = "credential.helper"

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
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
        let all = file.content == nil ? [] : try GitValue.all(variable, in: file.path)
        // An empty value means that those before it do not count.
        let helpers = all.suffix(from: all.lastIndex(of: "").map { $0 + 1 } ?? 0)
        if !helpers.contains(where: { GitValue.isOurs($0) }) {
            plan.change(file, .value(GitValue(variable: variable, value: value)))
        }
        for other in helpers where !GitValue.isOurs(other) {
            // The words behind the name may have a password among them.
            let name = other.hasPrefix("!") ? "!…" : String(other.prefix { $0 != " " })
            plan.notes.append(
                "git has the helper '\(name)' too, and stores every password in it as well: 'git config --global --edit' "
                    + "takes it out")
        }
        let stored = try surroundings.home(".git-credentials")
        if FilePath.exists(stored) {
            plan.notes.append("\(stored) has passwords in plain text: remove it when git has asked for them once more")
        }
        return plan
    }

    /// The file that 'git config --global' writes to (git-config(1), FILES).
    private static func path(_ surroundings: SetupSurroundings) throws -> String {
        if let path = surroundings.environment.variables["GIT_CONFIG_GLOBAL"] {
            if path.isEmpty { throw ToolFailure(message: "GIT_CONFIG_GLOBAL is empty: git reads no file of yours") }
            return path
        }
        let (usual, other) = (try surroundings.home(".gitconfig"), try surroundings.configuration("git/config"))
        return !FilePath.exists(usual) && FilePath.exists(other) ? other : usual
    }
}
