internal import ArgumentParser
internal import KeychainClient
internal import KeychainHelpers
internal import KeychainModel
internal import KeychainSystem
internal import Logging

@main
struct KeychainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychainctl",
        abstract: "Keep, find and mend the secrets of this user's keychain.",
        discussion: """
            Secrets come from standard input, byte for byte, or from a prompt; never from arguments.
            On an embedded store the command acts as the store's owner and reaches every access group.

            The exit status is the low byte of Apple's OSStatus: 44 not found, 45 duplicate, 36 not allowed or \
            locked, 30 missing entitlement, 51 authentication failed, 53 no keychain available, 84 no passcode set, \
            206 bad parameter; 64 for a mistake on the command line, 1 for anything else.

            'keychainctl --generate-completion-script bash' (or zsh, or fish) prints what completes its words in the shell.
            """,
        version: Release.version,
        subcommands: [
            DemoCommand.self, StatusCommand.self, WhoamiCommand.self, DoctorCommand.self, AddCommand.self,
            GetCommand.self, FindCommand.self, ShowCommand.self, UpdateCommand.self, EditCommand.self,
            DeleteCommand.self, GenerateCommand.self, TOTPCommand.self, PasscodeCommand.self, LockCommand.self,
            UnlockCommand.self, WatchCommand.self, ExportCommand.self, ImportCommand.self, MigrateCommand.self,
            KeyCommand.self, TrustCommand.self, FileCommand.self, RunCommand.self, AllowCommand.self, DenyCommand.self,
            SetupCommand.self, AppCommand.self, ClipboardHolderCommand.self,
        ])

    /// The command of a line.
    ///
    /// ArgumentParser collects all options of every command on the way from the root, several times. A command that is
    /// read alone costs a part of that. A line with a mistake, or for help, is read from the root, which names the whole
    /// command in its messages.
    static func parsed(_ arguments: some Collection<String>) throws -> any ParsableCommand {
        let (command, words) = try CommandNames.command(of: arguments)
        if command.configuration.subcommands.isEmpty, let alone = try? command.parseAsRoot(ClipTime.completed(words)),
            type(of: alone) == command
        {
            return alone
        }
        return try parseAsRoot(ClipTime.completed(arguments))
    }

    /// Every failure of every command becomes an exit status here.
    static func main() {
        ckeychain_limit_cores()
        StandardStreams.makeSafe()
        StandardStreams.endByCrashSignals()
        if HelperProgram.isStarted { HelperProgram.main() }
        LoggingSystem.bootstrap { _ in WarningsToStandardError() }
        do {
            try ArgumentText.requireValid()
            let arguments = CommandLine.arguments.dropFirst()
            var command = try PlainCommandLine.command(arguments) ?? parsed(arguments)
            Patience.ofProcess.notice = { Console.complain($0) }
            try command.run()
        } catch {
            ExitStatus.end(with: error) { error in
                guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
                let status = ExitCode.validationFailure.rawValue
                if Console.speaksJSON {
                    FailureReport(status: status, message: message(for: error)).tell()
                } else {
                    Console.complainOfUsage(fullMessage(for: error))
                }
                exit(withError: ExitCode.validationFailure)
            }
        }
    }
}
