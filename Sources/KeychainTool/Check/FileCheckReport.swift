internal import DataProtection

/// The report of `file fsck` on one file, in words and as JSON.
struct FileCheckReport {
    enum State: String {
        case intact, damaged
        /// The file was damaged, and the repair was enough.
        case repaired
    }

    private let path: String
    let check: ProtectedFileCheck
    /// The check after a repair; nil: nothing was repaired.
    var afterRepair: ProtectedFileCheck?
    /// The file with the content that opens.
    var salvagedPath: String?

    init(_ path: String, _ check: ProtectedFileCheck) {
        self.path = path
        self.check = check
    }

    var state: State {
        if check.isIntact { return .intact }
        return afterRepair?.isIntact == true ? .repaired : .damaged
    }

    // MARK: Words

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
        let name = FileClassName(protection).rawValue
        let readable =
            check.readable == length
            ? "all of its \(counted(length))" : "\(check.readable) of \(counted(length))"
        return "\(state), class \(name), \(readable) can be read"
    }

    private func counted(_ bytes: UInt64) -> String { bytes == 1 ? "1 byte" : "\(bytes) bytes" }

    private func salvageInWords(_ path: String) -> String {
        let lost = check.lost.map { "\($0.lowerBound) to \($0.upperBound - 1)" }
        let rest = lost.isEmpty ? "all of it" : "with zeros at the bytes \(lost.joined(separator: ", "))"
        return "Saved to \(TerminalText.escape(path)), \(rest)."
    }

    // MARK: JSON

    var json: JSONValue {
        .object([
            ("path", .string(path)), ("state", .string(state.rawValue)),
            ("class", check.protection.map { .string(FileClassName($0).rawValue) } ?? .null),
            ("length", check.length.map { .number(Int64(clamping: $0)) } ?? .null),
            ("readable", .number(Int64(clamping: check.readable))),
            ("lost", .array(check.lost.map { .object(Self.members($0)) })),
            ("findings", .array(check.findings.map(Self.json))),
            ("salvaged", salvagedPath.map { .string($0) } ?? .null),
        ])
    }

    private static func json(_ finding: ProtectedFileCheck.Finding) -> JSONValue {
        .object(
            [
                (key: "kind", value: JSONValue.string(finding.kind.rawValue)),
                ("damage", .boolean(finding.isDamage)), ("losesContent", .boolean(finding.losesContent)),
            ] + (finding.content.map(members) ?? [("offset", .null), ("count", .null)]) + [
                ("text", .string(finding.text)), ("advice", finding.kind.advice.map { .string($0) } ?? .null),
            ])
    }

    private static func members(_ range: Range<UInt64>) -> [(key: String, value: JSONValue)] {
        [
            ("offset", .number(Int64(clamping: range.lowerBound))),
            ("count", .number(Int64(clamping: range.upperBound - range.lowerBound))),
        ]
    }
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
