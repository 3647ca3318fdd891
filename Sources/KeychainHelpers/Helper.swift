internal import Glibc
internal import KeychainClient
internal import KeychainSystem

/// A program that another tool starts to find, store and erase its credentials here (docs/helpers.md).
protocol Helper: Sendable {
    /// The name that the tool calls it by.
    static var name: String { get }
    /// An answer, in the tool's terms, to a question that takes longer than ``TimeLimit/seconds``.
    static func answerOutOfTime(_ arguments: [String]) -> String
    /// - Returns: the exit status.
    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32
}

/// One executable for all helpers: the name by which it is started selects the helper.
package enum HelperProgram {
    private static let helpers: [any Helper.Type] = [
        GitHelper.self, DockerHelper.self, CargoHelper.self, KeyringHelper.self, SecretHelper.self,
    ]

    package static let names = helpers.map { $0.name }

    /// - Parameter words: The command line. The name of a helper may also be its first argument.
    package static func run(_ words: [String]) -> Int32 {
        ckeychain_limit_cores()
        let console = HelperConsole(program: words.first.map(lastName) ?? "keychain-helper")
        if let helper = helper(console.program) { return run(helper, Array(words.dropFirst()), console) }
        guard words.count > 1, let helper = helper(words[1]) else {
            console.complain(
                "start this program by one of its names: \(names.joined(separator: ", ")). docs/helpers.md says which "
                    + "tool calls which, and 'keychainctl setup' configures the tools")
            return 64
        }
        return run(helper, Array(words.dropFirst(2)), HelperConsole(program: helper.name))
    }

    private static func run(_ helper: any Helper.Type, _ arguments: [String], _ console: HelperConsole) -> Int32 {
        TimeLimit.begin(console.program, answer: helper.answerOutOfTime(arguments))
        // This limit is shorter than the helper's own, so that the message tells of the daemon's silence.
        Patience.ofProcess.parts = 8
        // A tool that reads standard error may take every word for a failure.
        if isatty(STDERR_FILENO) == 1 { Patience.ofProcess.notice = { console.complain($0) } }
        return helper.run(arguments, console)
    }

    private static func helper(_ name: String) -> (any Helper.Type)? { helpers.first { $0.name == name } }

    private static func lastName(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }
}
