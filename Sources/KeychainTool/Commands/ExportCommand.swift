internal import ArgumentParser
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import KeychainTransfer

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all items into one encrypted file, under a passphrase of its own.",
        discussion: """
            The passphrase comes twice the same from standard input, one a line, or from prompts. Left out are items \
            that never leave this device, and items that ask for authentication. The file appears only when it is \
            whole; 'keychainctl import' reads it.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The file to write; - is standard output, unless that is a terminal.", completion: .file())
    var file: String
    @Flag(help: "Replace the file if it is there.") var force = false
    @Option(help: "Only the items of this access group.") var group: String?
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    private var isStandardOutput: Bool { file == "-" }

    func validate() throws {
        try NameKind.file.require(file)
        try NameKind.group.require(group)
        if isStandardOutput && json { throw ValidationError("--json needs standard output for itself: name a file.") }
    }

    func run() throws {
        if isStandardOutput {
            guard !Console.outputIsTerminal else {
                throw KeychainError(.parameter, message: "an export is not for a terminal: name a file, or use a pipe")
            }
        } else {
            try ExportOutput.requireFree(file, replaces: force)
        }
        let session = try KeychainSession.existing(store)
        if !isStandardOutput { try StoreFiles(session).requireElsewhere(file) }
        let passphrase = try PasscodeInput.readNewPassphrase(of: .export)
        // The signals are held before the first thread starts, so that no half of a file is left behind.
        let signals = isStandardOutput ? nil : HeldSignals()
        defer { signals?.release() }
        let key = try ExportKey(new: passphrase)
        do {
            let summary = try ExportOutput.write(to: isStandardOutput ? nil : file, replaces: force) { output in
                try write(to: output, key, session, signals)
            }
            try report(summary)
        } catch let interruption as Interruption {
            signals?.deliver()
            throw interruption
        }
        passphrase.noteIfShort("passphrase")
    }

    /// A signal has asked the program to end.
    private struct Interruption: Error {}

    private func write(
        to output: ExportOutput, _ key: ExportKey, _ session: KeychainSession, _ signals: HeldSignals?
    ) throws -> ExportSummary {
        let line = ProgressLine("Exporting")
        defer { line.end() }
        let total = try session.itemCount()
        let writer = try ExportWriter(key) { bytes throws(KeychainError) in try output.write(bytes) }
        return try writer.writeAll(of: group) { request in
            try session.askAsOwner(.export(request), to: "export all items")
        } show: { done in
            // The number of items in one group is not known.
            if group == nil { line.show(done, of: total) }
            guard let signals, signals.arePending else { return }
            if signals.isEndPending { throw Interruption() }
            // Such a signal only stops the program for a while.
            line.end()
            signals.deliver()
        }
    }

    private func report(_ summary: ExportSummary) throws {
        let report = ExportReport(file: file, summary: summary)
        if isStandardOutput {
            Console.note(report.sentence)
        } else {
            try report.write(json: json)
        }
        if summary.items == 0 && summary.leftOut.total > 0 { Console.note("note: there is no item in this export") }
        if summary.leftOut.unreadable > 0 {
            Console.complain(
                "\(counted(summary.leftOut.unreadable, "item")) could not be exported: damaged, or with a date or "
                    + "group that no export can hold; 'keychainctl doctor' tells of damage")
        }
    }
}
