internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem

struct FileClassCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "class", abstract: "Show or change when files open, and what directories give to new files.",
        discussion: """
            Without an option it prints a line for each file: its class, a space, and the file; - is a plain file, or a \
            directory that gives no class. A change takes a moment, however large the file is, and puts it under the \
            newest keys, also if the class is the same. Plain files are refused: 'keychainctl file protect' encrypts them.

            Examples:
              keychainctl file class notes.txt
              keychainctl file class --set complete notes.txt
              keychainctl file class --set complete --recursive ~/Documents
              keychainctl file class --remove ~/Documents
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Option(
        help: "The class that the files get; a directory gives it to files made in it from now on.")
    var `set`: FileProtection?
    @Flag(help: "Directories give no class any more; the files in them stay as they are.") var remove = false
    @Flag(help: "With --set: all files and directories below the directories too.") var recursive = false
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if `set` != nil && remove { throw ValidationError("--set and --remove contradict each other.") }
        if recursive && `set` == nil { throw ValidationError("--recursive is for --set.") }
    }

    func run() throws {
        let directories = recursive ? TreeWalk.Directories.entered : .takenAlone
        try TreeRun.start(store, arguments, directories, holdsSignals: false) { session, run in
            var work = ClassWork(set: `set`, removes: remove, files: session.files, run: run, keepsClasses: json)
            try run.perform(&work, recursive ? "Setting the class" : nil)
            if json { try work.classes.writeJSON() }
        }
    }
}

/// The class of a file or directory, or of the files in it.
private struct ClassReport: Keyed {
    static let fields: [Field<Self>] = [
        Field("path", "the path as given") { $0.path },
        Field("class", "a name as for `--class`, or null") { $0.protection },
    ]

    let path: String
    let protection: FileProtection?
}

private struct ClassWork: TreeOperation {
    let set: FileProtection?
    let removes: Bool
    let files: ProtectedFiles
    let run: TreeRun
    /// Whether the classes are told at the end.
    let keepsClasses: Bool
    var classes: [ClassReport] = []

    mutating func enter(_ directory: String, _ found: FileNumber?, below _: String) throws {
        let (files, url) = (files.meaning(found), URL(namedByPerson: directory))
        if removes { try files.removeProtection(ofDirectory: url) }
        try deal(with: directory, url, files)
    }

    mutating func perform(_ file: TreeWalk.FoundFile, below _: String) throws -> TreeRun.Outcome {
        let files = files.meaning(file.found)
        // The library would encrypt a plain file, and this command must not.
        guard try set == nil || files.isProtected(file.url) else {
            throw DataProtectionError(.notProtected, file.path, "it is a plain file")
        }
        if removes {
            throw DataProtectionError(
                .invalidOption, file.path, "it is no directory; 'keychainctl file unprotect' decrypts files")
        }
        try deal(with: file.path, file.url, files)
        return .done
    }

    private mutating func deal(with path: String, _ url: URL, _ files: ProtectedFiles) throws {
        if let set { try files.setProtection(set, of: url) }
        let protection = try set ?? (removes ? nil : files.protection(of: url))
        if keepsClasses {
            classes.append(ClassReport(path: path, protection: protection))
        } else if set == nil && !removes {
            try run.write("\(protection?.name ?? "-") \(TerminalText.escape(path))\n")
        }
    }
}
