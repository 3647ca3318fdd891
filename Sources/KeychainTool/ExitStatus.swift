internal import DataProtectionCore
internal import Glibc
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// The exit status of a failure. docs/cli.md lists the numbers, and their meanings never change.
enum ExitStatus {
    /// The low byte of the `OSStatus`, as macOS's `security` does.
    static func of(_ code: KeychainError.Code) -> Int32 { code.status & 0xff }

    /// Reports an error and ends the program.
    ///
    /// - Parameter otherwise: Ends the program after help, after a mistake on the command line (64), or with a status
    ///   that a command chose itself.
    static func end(with error: any Error, otherwise: (any Error) -> Never) -> Never {
        let report: FailureReport? =
            switch error {
            case let error as KeychainError: FailureReport(error)
            case let error as AmbiguousMatch: FailureReport(error.error, matches: error.items)
            case let error as DataProtectionError: FailureReport(FileFailure(error))
            case let error as FileFailure: FailureReport(error)
            case let error as ProgramFailure: FailureReport(status: error.status, message: error.message)
            case let error as SystemError: FailureReport(status: 1, message: error.message)
            case let error as ToolFailure: error.message.map { FailureReport(status: 1, message: $0) }
            default: otherwise(error)
            }
        report?.tell()
        exit(report?.status ?? 1)
    }
}

/// A failure of the command itself, which no status of Apple's describes.
struct ToolFailure: Error {
    /// nil: the failure needs no message, or cannot be shown.
    var message: String?
}
