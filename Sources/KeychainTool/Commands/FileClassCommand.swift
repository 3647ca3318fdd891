internal import ArgumentParser
internal import DataProtection
internal import Foundation

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
    var `set`: FileClassName?
    @Flag(help: "Directories give no class any more; the files in them stay as they are.") var remove = false
    @Flag(help: "With --set: all files and directories below the directories too.") var recursive = false
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if `set` != nil && remove { throw ValidationError("--set and --remove contradict each other.") }
        if recursive && `set` == nil { throw ValidationError("--recursive is for --set.") }
    }

    func run() throws {
        let session = try KeychainSession(store)
        let files = session.files
        let walk = TreeWalk(
            paths: arguments.paths, directories: recursive ? .entered : .takenAlone, storeFiles: StoreFiles(session))
        let progress = recursive ? FileProgress("Setting the class", over: walk) : nil
        var failures = FileFailures()
        func fail(_ failure: FileFailure) {
            progress?.end()
            failures.add(failure)
        }
        var entries: [JSONValue] = []
        func tell(_ path: String, _ outcome: Result<FileClassName?, DataProtectionError>) throws {
            switch outcome {
            case .success(let name) where json:
                let value = name.map { JSONValue.string($0.rawValue) } ?? .null
                entries.append(.object([("path", .string(path)), ("class", value)]))
            case .success(let name) where `set` == nil && !remove:
                try Console.write("\(name?.rawValue ?? "-") \(TerminalText.escape(path))\n")
            case .success: break
            case .failure(let error): fail(FileFailure(error, path: path))
            }
        }
        try walk.visit { finding in
            switch finding {
            case .directory(let path, let found): try tell(path, outcome(path, true, files.meaning(found)))
            case .file(let path, let file):
                try tell(path, outcome(path, false, files.meaning(file.found)))
                progress?.endFile(file.size)
            case .skipped: break
            case .failed(let failure): fail(failure)
            }
        }
        progress?.end()
        if json { try Console.write(JSONValue.array(entries).text + "\n") }
        try failures.end()
    }

    private func outcome(
        _ path: String, _ isDirectory: Bool, _ files: ProtectedFiles
    ) -> Result<FileClassName?, DataProtectionError> {
        Result { () throws(DataProtectionError) in try deal(with: path, isDirectory, files) }
    }

    /// - Returns: the class that the file or directory then has; nil: none.
    private func deal(
        with path: String, _ isDirectory: Bool, _ files: ProtectedFiles
    ) throws(DataProtectionError) -> FileClassName? {
        let url = URL(namedByPerson: path)
        if let wanted = `set` {
            // The library would encrypt a plain file, and this command must not.
            guard isDirectory ? true : try files.isProtected(url) else {
                throw DataProtectionError(.notProtected, path, "it is a plain file")
            }
            try files.setProtection(wanted.protection, of: url)
            return wanted
        }
        if remove {
            guard isDirectory else {
                throw DataProtectionError(
                    .invalidOption, path, "it is no directory; 'keychainctl file unprotect' decrypts files")
            }
            try files.removeProtection(ofDirectory: url)
            return nil
        }
        return try files.protection(of: url).map { FileClassName($0) }
    }
}
