internal import ArgumentParser
internal import DataProtectionCore
internal import KeychainClient

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

    func validate() throws {
        if to.isEmpty { throw ValidationError("A directory cannot have an empty name.") }
    }

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
        try run.end()
    }
}
