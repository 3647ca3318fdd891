internal import KeychainModel

/// The counts of a ``TreeRun``.
struct TreeCounts {
    static let skipped = Field<Self>(
        "skipped",
        "how many of each kind were skipped in trees: `symbolicLinks`, `pipes`, `sockets`, `devices`, `keychains`, "
            + "`unfinished` (files that another program is writing)"
    ) { $0.skippedByKind }
    static let failed = Field<Self>("failed", "how many failures were reported") { $0.failed }
    /// The last fields of a report on changed or copied files.
    static let fields = [
        skipped, Field("leftovers", "how many unfinished files of killed programs were removed") { $0.leftovers },
        failed,
    ]

    var done = 0
    /// The bytes of the files in ``done``.
    var bytes: UInt64 = 0
    /// The files that were done before.
    var left = 0
    /// The files that are not protected, and were left out.
    var plain = 0
    var skipped: [TreeWalk.Skipped: Int] = [:]
    var failed = 0
    /// The removed files of killed programs.
    var leftovers = 0

    /// The bytes in words.
    var size: String { ByteCount.text(bytes) }

    /// nil: nothing was skipped.
    var skippedInWords: String? {
        let kinds = TreeWalk.Skipped.allCases.compactMap { kind in
            skipped[kind].map { counted($0, kind.names.one, kind.names.many) }
        }
        return kinds.isEmpty ? nil : "skipped: \(kinds.joined(separator: ", "))"
    }

    private var skippedByKind: JSONValue {
        .object(TreeWalk.Skipped.allCases.map { ($0.names.key, .number(Int64(skipped[$0] ?? 0))) })
    }

    /// A sentence on the files that were changed or copied.
    ///
    /// - Parameter left: The words for the files that were done before.
    func sentence(_ start: String, left leftInWords: String) -> String {
        clauses(
            start, left.ifAny(leftInWords), plain == 0 ? nil : "\(counted(plain, "plain file")) left out",
            skippedInWords,
            leftovers == 0 ? nil : "\(counted(leftovers, "unfinished file")) of killed programs removed",
            failed.ifAny("failed"))
    }
}

/// - Returns: a line of the parts that are there.
func clauses(_ parts: String?...) -> String { parts.compactMap(\.self).joined(separator: "; ") + "\n" }

extension Int {
    /// The number with words behind it; nil: it is 0.
    func ifAny(_ words: String) -> String? { self == 0 ? nil : "\(self) \(words)" }
}

extension TreeWalk.Skipped {
    fileprivate var names: (one: String, many: String, key: String) {
        switch self {
        case .symbolicLink: ("symbolic link", "symbolic links", "symbolicLinks")
        case .pipe: ("pipe", "pipes", "pipes")
        case .socket: ("socket", "sockets", "sockets")
        case .device: ("device", "devices", "devices")
        case .keychain: ("keychain's directory", "keychains' directories", "keychains")
        case .unfinished: ("file that is being written", "files that are being written", "unfinished")
        }
    }
}
