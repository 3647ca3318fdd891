internal import Foundation
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
                FileHandle.standardError.write(Data("keychain-helper: an argument is not UTF-8\n".utf8))
                exit(64)
            }
            words.append(word)
        }
        exit(HelperProgram.run(words))
    }
}
