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
        let content = try ImportCheck(input, key)
        let session = try KeychainSession(store)
        var report = ImportReport(isDryRun: dryRun, summary: content.summary)
        if dryRun && session.presence == .absent {
            // The outcome is that of an empty store. A rehearsal makes no store.
            report.outcomes = [.added: content.summary.items - content.refused, .refused: content.refused]
        } else {
            try Import(session: session, input: input, key: key, isDryRun: dryRun).run(&report)
        }
        try report.write(json: json)
        if report.count(.refused) > 0 {
            Console.complain(
                "\(counted(report.count(.refused), "entry", "entries")) of the file \(dryRun ? "would be" : "were") left "
                    + "out: no keychain of this version exports such items")
        }
    }
}

/// Reads an export to its end, before the command acts on it.
private struct ImportCheck {
    let summary: ExportSummary
    /// The number of entries that no keychain exports.
    let refused: Int

    init(_ input: ImportInput, _ key: ExportKey) throws {
        let line = ProgressLine("Checking (KiB)")
        defer { line.end() }
        let reader = try input.reader(key)
        var refused = 0
        var summary: ExportSummary?
        var shown = 0
        while let record = try reader.next() {
            switch record {
            case .item(let item): if item.flaw != nil { refused += 1 }
            case .unreadable: refused += 1
            case .end(let end): summary = end
            }
            if input.position - shown > 4 << 20 {
                shown = input.position
                line.show(shown >> 10, of: input.byteCount >> 10)
            }
        }
        guard let summary else { throw KeychainError.unexpectedReply }
        self.summary = summary
        self.refused = refused
    }
}

/// One run of `import`. Each batch is stored whole or not at all.
private struct Import {
    private static let itemsPerBatch = 500
    private static let bytesPerBatch = 4 << 20

    let session: KeychainSession
    let input: ImportInput
    let key: ExportKey
    let isDryRun: Bool

    func run(_ report: inout ImportReport) throws {
        let line = ProgressLine(isDryRun ? "Comparing" : "Importing")
        defer { line.end() }
        let reader = try input.reader(key)
        do {
            while let batch = try nextBatch(of: reader, &report) {
                let request = ImportRequest(batch, isDryRun: isDryRun)
                for outcome in try session.askAsOwner(.importItems(request), to: "import items") {
                    report.outcomes[outcome, default: 0] += 1
                }
                line.show(report.total, of: report.summary.items)
            }
        } catch {
            line.end()
            if !isDryRun && report.total > report.count(.refused) {
                Console.note(
                    "\(report.total) of \(counted(report.summary.items, "item")) were dealt with and stay so; "
                        + "the same command goes on with the rest")
            }
            throw error
        }
    }

    /// nil: there are no more items.
    private func nextBatch(of reader: ExportReader, _ report: inout ImportReport) throws -> [Item]? {
        var batch: [Item] = []
        var bytes = 0
        while batch.count < Self.itemsPerBatch && bytes < Self.bytesPerBatch {
            switch try reader.next() {
            // The engine would refuse such an item. It may be large in parts that the count of bytes leaves out.
            case .item(let item) where item.flaw != nil: report.outcomes[.refused, default: 0] += 1
            case .item(let item):
                batch.append(item)
                bytes += (item.secret?.count ?? 0) + item.attributes.byteCount
            case .unreadable: report.outcomes[.refused, default: 0] += 1
            case .end, nil: return batch.isEmpty ? nil : batch
            }
        }
        return batch
    }
}
