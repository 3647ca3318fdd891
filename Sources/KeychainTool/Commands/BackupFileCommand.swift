internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials

struct BackupFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy protected files as they are, encrypted, also while locked.",
        discussion: """
            Each file and tree is copied under its last name into the directory of --to, with modes, times and extended \
            attributes. Plain files are left out. No key is needed, and none is copied: 'keychainctl file backup-key', once \
            while unlocked, makes what 'keychainctl file restore' needs. Run again, it copies what has changed. Nothing is \
            deleted there.

            Example:
              keychainctl file backup ~/Documents --to /media/backup
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @OptionGroup var options: BackupOptions
    @Option(
        help: ArgumentHelp("Where the copies go; it is made if it is not there.", valueName: "directory"),
        completion: .directory)
    var to: String

    func validate() throws { try NameKind.directory.require(to) }

    func run() throws {
        try TreeRun.start(store, arguments, .entered) { session, run in
            let copy = try TreeCopy(into: to, for: .backup, session.files, run)
            try options.run(TreeBackup(work: .backUp(copy), files: session.files, run: run))
        }
    }
}

/// The options that `file backup` and `file restore` have.
struct BackupOptions: ParsableArguments {
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false
    @Flag(help: "Say nothing unless something fails.") var quiet = false

    func run(_ backup: consuming TreeBackup) throws {
        let run = backup.run
        try run.perform(&backup, quiet ? nil : backup.report.isRestoring ? "Restoring" : "Backing up")
        try run.tell(backup.report, json: json, quiet: quiet)
    }
}

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
        try NameKind.file.require(key)
        try NameKind.directory.require(to)
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
