internal import ArgumentParser
internal import DataProtection
internal import Foundation
internal import KeychainModel

/// A failure of the command itself, which no status of Apple's describes.
struct ToolFailure: Error {
    /// nil: there is nothing to say, or nobody to say it to.
    var message: String?
}

/// What a failure is to the shell. docs/cli.md lists the numbers; none is ever given another meaning.
enum ExitStatus {
    /// The low byte of the `OSStatus`, as macOS's `security` does.
    static func of(_ code: KeychainError.Code) -> Int32 { code.status & 0xff }

    /// Reports an error and ends the program.
    static func end(with error: any Error) -> Never {
        switch error {
        case let error as KeychainError:
            Console.complain(error.message)
            exit(of(error.code))
        case let error as DataProtectionError:
            end(with: FileFailure(error))
        case let error as FileFailure:
            Console.complain(error.text)
            exit(error.status)
        case let error as ToolFailure:
            if let message = error.message { Console.complain(message) }
            exit(1)
        default:
            // Help, mistakes on the command line (64), and statuses that a command chose itself.
            KeychainCommand.exit(withError: error)
        }
    }
}
