internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import KeychainTransfer

struct BackupKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-key",
        abstract: "Write the keys that backups of files are restored with, under a passphrase.",
        discussion: """
            The passphrase comes twice the same from standard input, one a line, or from prompts. The keychain has to be \
            unlocked. Whoever has this file and its passphrase reads every protected file of this keychain, also those \
            that are made later. Make a new one after 'keychainctl passcode set' and 'keychainctl passcode change --rekey', \
            which renew the keys.

            Example:
              keychainctl file backup-key --output files.key
            """)

    @OptionGroup var store: StoreOptions
    @Option(
        help: ArgumentHelp(
            "The file to write (default: standard output, unless that is a terminal).", valueName: "file"),
        completion: .file())
    var output: String?
    @Flag(help: "Replace the file if it is there.") var force = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        try NameKind.file.require(output)
        if json && output == nil { throw ValidationError("--json needs standard output for itself: name an --output.") }
    }

    func run() throws {
        if let output {
            try ExportOutput.requireFree(output, replaces: force)
        } else if Console.outputIsTerminal {
            throw KeychainError(
                .parameter, message: "a backup key is not for a terminal: name a file with --output, or use a pipe")
        }
        let session = try KeychainSession.existing(store)
        if let output { try StoreFiles(session).requireElsewhere(output) }
        let passphrase = try PasscodeInput.readNewPassphrase(of: .backupKey)
        // The signals are held before the first thread starts, so that no half of a file is left behind.
        let signals = output == nil ? nil : HeldSignals()
        defer { signals?.release() }
        let seal = try FileKeyBackupSeal(passphrase: passphrase)
        let request = FileKeyBackupRequest(header: seal.header, key: seal.key)
        let file = try session.askAsOwner(.backUpFileKeys(request), to: "make a backup key of all files")
        try ExportOutput.write(to: output, replaces: force) { target in
            try file.withUnsafeBytes { try target.write($0) }
        }
        passphrase.noteIfShort("passphrase")
        if let output { try report(output, keychain: FileKeyBackup.storeID(of: file)) }
    }

    private func report(_ path: String, keychain: UUID?) throws {
        let keychain = keychain?.uuidString.lowercased() ?? ""
        let text =
            json
            ? JSONValue.object([("file", .string(path)), ("keychain", .string(keychain))]).text
            : TerminalText.escape("wrote the backup key of keychain \(keychain) to \(path)")
        try Console.write(text + "\n")
    }
}
