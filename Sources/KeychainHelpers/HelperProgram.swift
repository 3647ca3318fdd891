internal import Glibc
internal import KeychainClient
internal import Logging

/// The helpers as programs: other names of the command's executable. The process that a tool starts by one of them reads
/// that tool's messages, and nothing of the command.
package enum HelperProgram {
    /// The name that lists the helpers, and takes one of them as its first argument.
    private static let ownName = "keychain-helper"
    private static let helpers: [any Helper.Type] = [
        GitHelper.self, DockerHelper.self, CargoHelper.self, KeyringHelper.self, SecretHelper.self,
    ]

    package static let names = helpers.map { $0.name }

    /// Whether this process was started by the name of a helper.
    package static var isStarted: Bool {
        guard CommandLine.argc > 0, let word = CommandLine.unsafeArgv[0] else { return false }
        let name = lastName(String(cString: word))
        return name == ownName || helper(name) != nil
    }

    package static func main() -> Never {
        // Tools read both streams. The engine's warnings are shown by 'keychainctl doctor'.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        var words: [String] = []
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)) {
            guard let argument, let word = String(validatingCString: argument) else {
                let text = "\(words.first.map(lastName) ?? ownName): an argument is not UTF-8\n"
                write(STDERR_FILENO, text, text.utf8.count)
                exit(64)
            }
            words.append(word)
        }
        exit(run(words))
    }

    /// - Parameter words: The command line. The name of a helper may also be its first argument.
    private static func run(_ words: [String]) -> Int32 {
        let console = HelperConsole(program: words.first.map(lastName) ?? ownName)
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
