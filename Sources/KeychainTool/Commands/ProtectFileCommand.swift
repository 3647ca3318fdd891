internal import ArgumentParser
internal import DataProtectionCore

/// The options that both directions have.
struct ConversionOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Flag(help: "Take all files below the directories; no symbolic link in them is followed.") var recursive = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false
    @Flag(help: "Say nothing unless something fails or has another class than --class says.") var quiet = false
    @Flag(help: "Change nothing: say which files it is about, and how much of the disk it takes.") var dryRun = false

    func run(_ direction: ConversionDirection) throws {
        try TreeRun.start(store, arguments, recursive ? .entered : .refused) { session, run in
            if dryRun {
                var rehearsal = ConversionRehearsal(direction, session.files, run, listsFiles: !json && !quiet)
                try run.perform(&rehearsal, nil)
                try run.tell(rehearsal.report, json: json)
            } else {
                try convert(direction, session, run)
            }
        }
    }

    private func convert(_ direction: ConversionDirection, _ session: KeychainSession, _ run: TreeRun) throws {
        let files = direction.isProtecting ? session.filesMakingStore : session.files
        let plan = ConversionPlan(run.walk, direction, files)
        try plan.requireSpace(for: run.walk)
        var conversion = Conversion(direction, files, run)
        let title = direction.isProtecting ? "Protecting" : "Unprotecting"
        try run.perform(&conversion, quiet ? nil : title, of: plan.total)
        conversion.publish()
        try run.tell(conversion.report, json: json, quiet: quiet)
        if direction.isProtecting && !json && !quiet { session.noteIfNeverLocked() }
    }
}

struct ProtectFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect", abstract: "Encrypt plain files, in the place where they are.",
        discussion: """
            Files keep their mode, owner, times and extended attributes. Those that are protected already are left. It \
            may be interrupted at any time and run again, which does the rest. A file takes its space a second time \
            until it is done; what it has occupied is given back to the disk, not overwritten. Files with several hard \
            links are refused.

            Examples:
              keychainctl file protect --class complete notes.txt
              keychainctl file protect --recursive ~/Documents
            """)

    @OptionGroup var options: ConversionOptions
    @Option(
        name: .customLong("class"),
        help: """
            When the files open (default: what the directory gives to new files, else \
            complete-until-first-user-authentication).
            """)
    var fileClass: FileProtection?

    func run() throws { try options.run(.protect(fileClass)) }
}

struct UnprotectFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unprotect", abstract: "Decrypt protected files, in the place where they are.",
        discussion: """
            The reverse of 'keychainctl file protect': plain files are left, and it may be interrupted and run again.

            Example:
              keychainctl file unprotect --recursive ~/Documents
            """)

    @OptionGroup var options: ConversionOptions

    func run() throws { try options.run(.unprotect) }
}
