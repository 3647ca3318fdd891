internal import ArgumentParser
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import KeychainTransfer

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Merge the items of an export into the keychain.",
        discussion: """
            The passphrase of the export comes from a line of standard input, or from a prompt. Nothing is changed \
            before all of the file was found whole. Of two items that exclude each other the newer one stays, and \
            nothing else is deleted. It may be interrupted and run again.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The file that 'keychainctl export' wrote.", completion: .file())
    var file: String
    @Flag(help: "Say what would be done, and change nothing.") var dryRun = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        try NameKind.file.require(file)
        if file == "-" {
            throw ValidationError("An export is read twice, which standard input cannot be: save it to a file first.")
        }
    }

    func run() throws {
        let input = try ImportInput(path: file)
        try ExportKey.requireFormat(input.header)
        let passphrase = try PasscodeInput.readPassphrase(of: .export)
        let key = try ExportKey(opening: input.header, passphrase: passphrase)
        let (summary, refused) = try check(input, key)
        let session = try KeychainSession(store)
        var report = ImportReport(isDryRun: dryRun, summary: summary)
        if dryRun && session.presence == .absent {
            // The outcome is that of an empty store. A rehearsal makes no store.
            report.outcomes = [.added: summary.items - refused, .refused: refused]
        } else {
            try add(input, key, to: session, &report)
        }
        try report.write(json: json)
        if report.count(.refused) > 0 {
            Console.complain(
                "\(counted(report.count(.refused), "entry", "entries")) of the file \(dryRun ? "would be" : "were") left "
                    + "out: no keychain of this version exports such items")
        }
    }

    private func check(_ input: ImportInput, _ key: ExportKey) throws -> (summary: ExportSummary, refused: Int) {
        let line = ProgressLine("Checking (KiB)")
        defer { line.end() }
        return try input.checked(key) { line.show($0 >> 10, of: input.byteCount >> 10) }
    }

    /// Each batch is stored whole or not at all.
    private func add(
        _ input: ImportInput, _ key: ExportKey, to session: KeychainSession, _ report: inout ImportReport
    ) throws {
        let line = ProgressLine(dryRun ? "Comparing" : "Importing")
        defer { line.end() }
        let reader = try input.reader(key)
        do {
            while true {
                let batch = try reader.nextBatch(&report.outcomes[.refused, default: 0])
                if batch.isEmpty { return }
                let request = ImportRequest(batch, isDryRun: dryRun)
                for outcome in try session.askAsOwner(.importItems(request), to: "import items") {
                    report.outcomes[outcome, default: 0] += 1
                }
                line.show(report.total, of: report.summary.items)
            }
        } catch {
            line.end()
            if !dryRun && report.total > report.count(.refused) {
                Console.note(
                    "\(report.total) of \(counted(report.summary.items, "item")) were dealt with and stay so; "
                        + "the same command goes on with the rest")
            }
            throw error
        }
    }
}
