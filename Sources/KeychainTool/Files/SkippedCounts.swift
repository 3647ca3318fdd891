/// The counts of things that were skipped, in words and as JSON.
extension TreeWalk.Skipped {
    /// The counts in words; empty: nothing was skipped.
    static func text(_ counts: [TreeWalk.Skipped: Int]) -> String {
        allCases.compactMap { kind in counts[kind].map { counted($0, kind.names.one, kind.names.many) } }
            .joined(separator: ", ")
    }

    static func json(_ counts: [TreeWalk.Skipped: Int]) -> JSONValue {
        .object(allCases.map { ($0.key, .number(Int64(counts[$0] ?? 0))) })
    }

    private var names: (one: String, many: String) {
        switch self {
        case .symbolicLink: ("symbolic link", "symbolic links")
        case .pipe: ("pipe", "pipes")
        case .socket: ("socket", "sockets")
        case .device: ("device", "devices")
        case .keychain: ("keychain's directory", "keychains' directories")
        case .unfinished: ("file that is being written", "files that are being written")
        }
    }

    private var key: String {
        switch self {
        case .symbolicLink: "symbolicLinks"
        case .pipe: "pipes"
        case .socket: "sockets"
        case .device: "devices"
        case .keychain: "keychains"
        case .unfinished: "unfinished"
        }
    }
}
