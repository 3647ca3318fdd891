internal import ArgumentParser
internal import DataProtectionCore
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
        }
    }
}

/// The report of `file fsck` on one file.
struct FileCheckReport: Report {
    static let fields: [Field<Self>] = [
        Field("path", "the path as given") { $0.path },
        Field(
            "state", "`intact` (the file is whole, but a finding is worth knowing), `damaged`, `repaired`"
        ) { $0.state.rawValue },
        Field("class", "as the header says; null if no header can be used") {
            $0.check.protection
        },
        Field("length", "as the header says; null if no header can be used") { $0.check.length },
        Field("readable", "how many bytes of content open") { $0.check.readable },
        Field("lost", "the bytes that do not open: an array of `offset` and `count`") { report in
            report.check.lost.map { JSONValue.object([("offset", $0.lowerBound.json), ("count", $0.byteCount.json)]) }
        },
        Field(
            "findings",
            "an array: `kind`; `damage`, a boolean; `losesContent`, a boolean; `offset` and `count` of the content concerned, "
                + "or null; `text`; `advice`, or null"
        ) { $0.check.findings },
        Field("salvaged", "the path of the new file, or null") { $0.salvagedPath },
    ]

    enum State: String {
        case intact, damaged
        /// The file was damaged, and the repair was enough.
        case repaired
    }

    let path: String
    let check: ProtectedFileCheck
    /// The check after a repair; nil: nothing was repaired.
    var afterRepair: ProtectedFileCheck?
    /// The file with the content that opens.
    var salvagedPath: String?

    var state: State {
        if check.isIntact { return .intact }
        return afterRepair?.isIntact == true ? .repaired : .damaged
    }

    var text: String {
        var lines = ["\(TerminalText.escape(path)): \(headline)"]
        for finding in check.findings {
            lines.append("  \(TerminalText.escape(finding.text)).")
            if let advice = finding.kind.advice { lines.append("    → \(advice)") }
        }
        if afterRepair != nil { lines.append("  Repaired: both copies of the header are whole.") }
        if let salvagedPath { lines.append("  \(salvageInWords(salvagedPath))") }
        return lines.map { $0 + "\n" }.joined()
    }

    private var headline: String {
        let state =
            switch state {
            case .intact: "intact"
            case .damaged: "damaged"
            case .repaired: "was damaged"
            }
        guard let protection = check.protection, let length = check.length else { return state }
        let name = protection.name
        let readable =
            check.readable == length
            ? "all of its \(counted(length, "byte"))" : "\(check.readable) of \(counted(length, "byte"))"
        return "\(state), class \(name), \(readable) can be read"
    }

    private func salvageInWords(_ path: String) -> String {
        let lost = check.lost.map { "\($0.lowerBound) to \($0.upperBound - 1)" }
        let rest = lost.isEmpty ? "all of it" : "with zeros at the bytes \(lost.joined(separator: ", "))"
        return "Saved to \(TerminalText.escape(path)), \(rest)."
    }
}

extension ProtectedFileCheck.Finding: Keyed {
    static let fields: [Field<Self>] = [
        Field("kind", "see below") { $0.kind.rawValue },
        Field("damage", "whether the file is damaged") { $0.isDamage },
        Field("losesContent", "whether content is lost") { $0.losesContent },
        Field("offset", "the content concerned: its first byte, or null") { $0.content?.lowerBound },
        Field("count", "how many bytes they are, or null") { $0.content?.byteCount },
        Field("text", "the finding in words") { $0.text },
        Field("advice", "what to do, or null") { $0.kind.advice },
    ]
}

extension Range<UInt64> {
    fileprivate var byteCount: UInt64 { upperBound - lowerBound }
}

extension ProtectedFileCheck.Finding.Kind {
    fileprivate var advice: String? {
        switch self {
        case .noHeader: "Restore the file from a backup: without a header nobody can open it."
        case .contradictingHeaders, .newestHeader, .cutShort, .extraBytes:
            "Restore it from a backup; --salvage DIRECTORY saves what can be read here."
        case .headerCopy: "--repair writes it anew, and loses nothing."
        case .chunk, .entry: "Restore these bytes from a backup; --salvage DIRECTORY saves the others."
        case .node:
            "Where these bytes lie and what opens them is in that table alone, so nothing below it can be had. Restore "
                + "them from a backup; --salvage DIRECTORY saves the others."
        case .nodeForm, .place, .beyondLength, .pageCount:
            "Only a program with the file's key makes such a file, by a mistake or on purpose. Read it and write it anew."
        case .interrupted: nil
        case .classChange: "Set the class once more: 'keychainctl file class --set'."
        case .formerState:
            "Set the class once more, which makes the present state durable: 'keychainctl file class --set'."
        }
    }
}
