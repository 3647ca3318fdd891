internal import ArgumentParser
internal import KeychainModel

struct FileCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck", abstract: "Check protected files completely, and save what can be read of damaged ones.",
        discussion: """
            Both copies of the header and every byte of content are opened with the file's key. Files that are intact \
            are not mentioned. Files whose class is locked are not checked, and not called damaged. The status is 93 if \
            a file is damaged.

            With --salvage each damaged file is written to the directory anew, protected and under its name, with \
            zeros where it does not open; what those ranges are is said. The damaged file stays as it is.

            Examples:
              keychainctl file fsck --recursive ~/Documents
              keychainctl file fsck --salvage ~/saved notes.txt
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Flag(help: "Check all files below the directories; no symbolic link in them is followed.") var recursive = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false
    @Flag(help: "Say nothing of what is intact, not even in sum.") var quiet = false
    @Option(
        help: ArgumentHelp(
            "Write what opens of damaged files to this directory, never over a file that is there.",
            valueName: "directory"),
        completion: .directory)
    var salvage: String?
    @Flag(help: "Write a damaged copy of a header anew from the one that is whole, which loses nothing.")
    var repair = false

    func validate() throws { try NameKind.directory.require(salvage) }

    func run() throws {
        try TreeRun.start(store, arguments, recursive ? .entered : .refused) { session, run in
            var check = FileCheck(session.files, run, salvage: salvage, repairs: repair, keepsReports: json)
            try run.perform(&check, quiet ? nil : "Checking")
            try run.tell(check.report, json: json, quiet: quiet)
            if check.report.count(.damaged) > 0 { throw ExitCode(ExitStatus.of(.decode)) }
            try run.end()
        }
    }
}
