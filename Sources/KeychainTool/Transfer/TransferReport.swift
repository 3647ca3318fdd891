internal import KeychainModel
internal import KeychainTransfer

struct ExportReport {
    var file: String
    var summary: ExportSummary

    var text: String {
        let place = file == "-" ? "" : " to \(file)"
        let leftOut = summary.leftOut.text.map { "; left out: \($0)" } ?? ""
        return "exported \(counted(summary.items, "item"))\(place)\(leftOut)"
    }

    var json: JSONValue {
        .object([
            ("file", .string(file)), ("exported", .number(Int64(summary.items))), ("leftOut", summary.leftOut.json),
        ])
    }
}

struct ImportReport {
    var isDryRun: Bool
    /// The summary that the export has.
    var summary: ExportSummary
    var outcomes: [ImportOutcome: Int] = [:]

    init(isDryRun: Bool, summary: ExportSummary) {
        self.isDryRun = isDryRun
        self.summary = summary
    }

    func count(_ outcome: ImportOutcome) -> Int { outcomes[outcome] ?? 0 }

    var total: Int { outcomes.values.reduce(0, +) }

    var text: String {
        let words: [(ImportOutcome, String)] = [
            (.added, "added"), (.replaced, "replaced what was older"),
            (.kept, "not taken, since what is here is newer"),
            (.unchanged, "here already"), (.refused, "left out"), (.expired, "expired since"),
        ]
        let parts = words.compactMap { outcome, text in count(outcome) > 0 ? "\(count(outcome)) \(text)" : nil }
        let whole = "\(counted(summary.items, "item")) in the export"
        let what = parts.isEmpty ? whole : "\(whole): \(parts.joined(separator: ", "))"
        return isDryRun ? "\(what) (dry run: nothing was changed)" : what
    }

    var json: JSONValue {
        .object([
            ("dryRun", .boolean(isDryRun)), ("items", .number(Int64(summary.items))),
            ("added", .number(Int64(count(.added)))), ("replaced", .number(Int64(count(.replaced)))),
            ("kept", .number(Int64(count(.kept)))), ("unchanged", .number(Int64(count(.unchanged)))),
            ("refused", .number(Int64(count(.refused)))), ("expired", .number(Int64(count(.expired)))),
            ("leftOutOfExport", summary.leftOut.json),
        ])
    }
}

extension LeftOut {
    var count: Int { thisDeviceOnly + constrained + ofTokens + unreadable }

    /// nil: nothing was left out.
    fileprivate var text: String? {
        let words = [
            (thisDeviceOnly, "only for this device"), (constrained, "that asks for authentication"),
            (ofTokens, "of a token"), (unreadable, "that does not open"),
        ]
        let parts = words.compactMap { count, text in count > 0 ? "\(count) \(text)" : nil }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    fileprivate var json: JSONValue {
        .object([
            ("thisDeviceOnly", .number(Int64(thisDeviceOnly))), ("authentication", .number(Int64(constrained))),
            ("token", .number(Int64(ofTokens))), ("damaged", .number(Int64(unreadable))),
        ])
    }
}

/// A count with its noun: "1 item", "3 items".
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
}
