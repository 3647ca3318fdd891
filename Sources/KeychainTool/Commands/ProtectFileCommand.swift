internal import ArgumentParser
internal import DataProtection
internal import KeychainClient

/// The options that both directions have.
struct ConversionOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Flag(help: "Take all files below the directories; no symbolic link in them is followed.") var recursive = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false
    @Flag(help: "Say nothing unless something fails or has another class than --class says.") var quiet = false
    @Flag(help: "Change nothing: say which files it is about, and how much of the disk it takes.") var dryRun = false

    func run(_ direction: ConversionDirection) throws {
        // The signals are held before any thread starts.
        let signals = HeldSignals()
        defer { signals.release() }
        let session = try KeychainSession(store)
        let walk = TreeWalk(
            paths: arguments.paths, directories: recursive ? .entered : .refused,
            storeFiles: StoreFiles(session))
        if dryRun { return try rehearse(direction, session.files, walk) }
        let conversion = FileConversion(
            direction, direction.isProtecting ? session.filesMakingStore : session.files, walk, signals, isQuiet: quiet)
        try conversion.run()
        if json {
            try Console.write(conversion.report.json.text + "\n")
        } else if !quiet {
            try Console.write(conversion.report.text + "\n")
            if direction.isProtecting { session.noteIfNeverLocked() }
        }
        try conversion.failures.end()
    }

    private func rehearse(_ direction: ConversionDirection, _ files: ProtectedFiles, _ walk: TreeWalk) throws {
        let rehearsal = ConversionRehearsal(direction, files, walk)
        try rehearsal.run(listsFiles: !json && !quiet)
        try Console.write(json ? rehearsal.json.text + "\n" : rehearsal.text)
        try rehearsal.failures.end()
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
    var fileClass: FileClassName?

    func run() throws { try options.run(.protect(fileClass?.protection)) }
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
