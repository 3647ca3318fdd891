internal import Glibc
internal import KeychainHelpers
internal import Logging

/// The executable of all helpers (docs/helpers.md).
@main
struct KeychainHelperCommand {
    static func main() {
        // A tool that went away is an error of a write.
        signal(SIGPIPE, SIG_IGN)
        // Tools read both streams. The engine's warnings are shown by 'keychainctl doctor'.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        var words: [String] = []
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)) {
            guard let argument, let word = String(validatingCString: argument) else {
                let text = "keychain-helper: an argument is not UTF-8\n"
                write(STDERR_FILENO, text, text.utf8.count)
                exit(64)
            }
            words.append(word)
        }
        exit(HelperProgram.run(words))
    }
}
