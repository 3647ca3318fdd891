internal import KeychainModel
internal import KeychainTransfer

struct ExportReport: Report {
    static let fields: [Field<Self>] = [
        Field("file", "the path as given") { $0.file },
        Field("exported", "the number of items in the file") { $0.summary.items },
        Field(
            "leftOut",
            "the number of items that are not in it, by reason: `thisDeviceOnly`, `authentication` (they ask for it), "
                + "`token`, `damaged`"
        ) { $0.summary.leftOut },
    ]

    var file: String
    var summary: ExportSummary

    var text: String { TerminalText.escape(sentence) + "\n" }

    var sentence: String {
        let place = file == "-" ? "" : " to \(file)"
        let leftOut = summary.leftOut.inWords.map { "; left out: \($0)" } ?? ""
        return "exported \(counted(summary.items, "item"))\(place)\(leftOut)"
    }
}

struct ImportReport: Report {
    static let fields: [Field<Self>] = [
        Field("dryRun", "whether nothing was changed") { $0.isDryRun },
        Field("items", "the number of entries in the file") { $0.summary.items },
        Field("added", "how many of them were new") { $0.count(.added) },
        Field("replaced", "how many took the place of older items, here or in the same file") { $0.count(.replaced) },
        Field("kept", "how many were not taken, because newer items are here") { $0.count(.kept) },
        Field("unchanged", "how many are here already") { $0.count(.unchanged) },
        Field("refused", "how many are no items of this version") { $0.count(.refused) },
        Field("expired", "how many have expired since") { $0.count(.expired) },
        Field("leftOutOfExport", "what the file says was left out of it: as `leftOut` above") { $0.summary.leftOut },
    ]

    var isDryRun: Bool
    /// The summary that the export has.
    var summary: ExportSummary
    var outcomes: [ImportOutcome: Int] = [:]

    func count(_ outcome: ImportOutcome) -> Int { outcomes[outcome] ?? 0 }

    var total: Int { outcomes.values.reduce(0, +) }

    var text: String {
        let words: [(ImportOutcome, String)] = [
            (.added, "added"), (.replaced, "replaced what was older"),
            (.kept, "not taken, since what is here is newer"),
            (.unchanged, "here already"), (.refused, "left out"), (.expired, "expired since"),
        ]
        let parts = words.compactMap { outcome, text in count(outcome).ifAny(text) }
        let whole = "\(counted(summary.items, "item")) in the export"
        let what = parts.isEmpty ? whole : "\(whole): \(parts.joined(separator: ", "))"
        return "\(what)\(isDryRun ? " (dry run: nothing was changed)" : "")\n"
    }
}

/// The table of the whole explains the counts.
extension LeftOut: Keyed {
    static let fields: [Field<Self>] = [
        Field("thisDeviceOnly", "") { $0.thisDeviceOnly }, Field("authentication", "") { $0.constrained },
        Field("token", "") { $0.ofTokens }, Field("damaged", "") { $0.unreadable },
    ]
}

struct MigrationReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("host", "as `--to` says") { $0.host.rawValue }, Field("store", "the store's directory") { $0.store },
            Field("dryRun", "whether nothing was changed") { $0.isDryRun },
        ] + ItemMove.Plan.fields.of { $0.plan }

    let host: StoreHost
    let store: String
    let isDryRun: Bool
    /// nil: no item was copied.
    let plan: ItemMove.Plan?

    var text: String { TerminalText.escape(sentence) + "\n" }

    var sentence: String {
        let owner =
            switch host {
            case .user: "this user's keychaind"
            case .system: "the system's keychaind"
            default: "the programs that use it"
            }
        let details = plan.map { plan in
            counted(plan.count, "item") + (isDryRun ? " would go" : " moved")
                + (plan.leftInWords.map { "; left behind, and not usable now: \($0)" } ?? "")
        }
        if isDryRun { return "\(details ?? "") (dry run: nothing was changed)" }
        return "the keychain in \(store) belongs to \(owner) now" + (details.map { ": \($0)" } ?? "")
    }
}

extension ItemMove.Plan: Keyed {
    static let fields: [Field<Self>] = [
        Field("moved", "to or from the system's keychaind: the number of items that go there") { $0.count },
        Field("leftBehind", "… how many stay where they are: as `leftOut` above") { $0.leftOut },
        Field("files", "… whether protected files stay, which open with the keys of their keychain alone") {
            $0.hasFiles
        },
    ]
}
