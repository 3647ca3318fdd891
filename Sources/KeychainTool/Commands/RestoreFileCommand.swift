internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainClient

struct RestoreFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Bring protected files of another keychain under this one.",
        discussion: """
            The passphrase of the backup key comes from a line of standard input, or from a prompt. Without --to files \
            are changed where they are, and only their headers are written; with it they stay, and copies under their \
            last names are restored. Files of this keychain are left, so it may be interrupted and run again. Each file \
            keeps its class; those of the class complete need this keychain unlocked.

            Examples:
              keychainctl file restore /media/backup/Documents --key files.key --to ~
              keychainctl file restore ~/Documents --key files.key
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @OptionGroup var options: BackupOptions
    @Option(
        help: ArgumentHelp("What 'keychainctl file backup-key' wrote.", valueName: "file"), completion: .file())
    var key: String
    @Option(
        help: ArgumentHelp(
            "Where restored copies go, none in the place of another file (default: files are restored where they are).",
            valueName: "directory"),
        completion: .directory)
    var to: String?

    func validate() throws {
        if key.isEmpty { throw ValidationError("A file cannot have an empty name.") }
        if to?.isEmpty == true { throw ValidationError("A directory cannot have an empty name.") }
    }

    func run() throws {
        let sealed = try SealedFileBackupKey(contentsOf: URL(namedByPerson: key))
        let passphrase = try PasscodeInput.readPassphrase(of: .backupKey)
        try TreeRun.start(store, arguments, .entered) { session, run in
            let key = try sealed.opened(passphrase)
            let files = session.filesMakingStore
            let copy = try to.map { try TreeCopy(into: $0, for: .restore, files, run) }
            try options.run(TreeBackup(work: .restore(key, copy), files: files, run: run))
        }
    }
}
