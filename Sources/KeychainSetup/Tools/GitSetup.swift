internal import FoundationEssentials
internal import KeychainSystem

enum GitSetup: ToolSetup {
    static let summary = "credential.helper in git's own configuration"

    private static let helper = GitValue.helper

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        let program = try surroundings.helper(helper)
        // git looks for a name in the PATH, and takes a path as it is.
        let isFound = surroundings.program(helper).map(surroundings.isHelper) ?? false
        let value = isFound ? "keychain" : program
        if !isFound && value.contains(where: { " '\"\\$`".contains($0) }) {
            throw SetupFailure(
                message: "git runs \(value) in a shell, which needs another path: put \(helper) into the PATH")
        }
        var plan = SetupPlan()
        let file = try SetupFile(try path(surroundings))
        do { _ = try GitEntry.all(in: file.content ?? Data()) } catch is SetupFailure {
            throw SetupFailure(message: "git does not understand \(file.path)")
        }
        var helpers = try GitHelpers.present()
        if !helpers.asksOurs() && !helpers.ofUser.asksOurs() {
            plan.change(file, .value(GitValue(variable: "credential.helper", value: value)))
            helpers = helpers.adding(value, to: file.path)
        }
        plan.isEffective = helpers.asksOurs()
        plan.notes = helpers.notes
        let stored = try surroundings.home(".git-credentials")
        if FilePath.exists(stored) {
            plan.notes.append("\(stored) has passwords in plain text: remove it when git has asked for them once more")
        }
        return plan
    }

    /// The file that 'git config --global' writes to (git-config(1), FILES).
    private static func path(_ surroundings: SetupSurroundings) throws -> String {
        if let path = surroundings.environment.variables["GIT_CONFIG_GLOBAL"] {
            if path.isEmpty { throw SetupFailure(message: "GIT_CONFIG_GLOBAL is empty: git reads no file of yours") }
            return path
        }
        let (usual, other) = (try surroundings.home(".gitconfig"), try surroundings.configuration("git/config"))
        return !FilePath.exists(usual) && FilePath.exists(other) ? other : usual
    }
}
