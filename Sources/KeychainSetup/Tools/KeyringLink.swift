internal import Glibc
internal import KeychainSystem

/// The command `keyring` in the PATH. Distributions have another program of the name. So this project's is installed
/// outside of the PATH, and a person who wants it gets a link in `~/.local/bin`.
enum KeyringLink {
    private static let name = "keyring"

    /// - Throws: ``SetupFailure`` if another program stands in the link's place.
    static func plan(_ surroundings: SetupSurroundings, into plan: inout SetupPlan) throws {
        if let found = surroundings.program(name), surroundings.isHelper(found) { return }
        let target = try surroundings.helper("git-credential-keychain", toInstall: name)
        let directory = try surroundings.home(".local/bin")
        let path = FilePath.join(directory, name)
        var information = stat()
        if lstat(path, &information) == 0 {
            guard surroundings.isHelper(path) else {
                throw SetupFailure(message: "\(path) is another program: move it away, or leave this tool as it is")
            }
        } else {
            // The link leads to the program behind the helper's name, which is a link too and may go.
            guard let program = SetupSurroundings.withoutLinks(target) else {
                throw SetupFailure(message: "\(target) leads nowhere")
            }
            plan.changes.append(SetupChange(link: path, to: program))
        }
        if !surroundings.isInSearchPath(directory) {
            plan.notes.append("put \(directory) into the PATH, so that the link \(path) is found")
        } else if let other = surroundings.program(name), !surroundings.isHelper(other), !FilePath.isSame(other, path) {
            plan.notes.append(
                "if \(directory) is behind \(FilePath.directory(of: other)) in the PATH, the other keyring "
                    + "there is found first: put it in front")
        }
    }
}
