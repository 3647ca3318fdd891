internal import DataProtection

/// A process that has a protected file open.
struct FileHolder {
    /// What a lock does to it.
    enum WhenLocked: String {
        /// Neither content nor header open until the unlock, also to who has the file open.
        case closed
        /// What is open stays so.
        case staysOpen = "stays-open"
        case unaffected
        /// Its header does not say which class it has.
        case unknown

        init(_ protection: FileProtection?) {
            self =
                switch protection {
                case .complete?: .closed
                case .completeUnlessOpen?: .staysOpen
                case .completeUntilFirstUserAuthentication?, FileProtection.none?: .unaffected
                case nil: .unknown
                }
        }

        var text: String {
            switch self {
            case .closed: "closed to it"
            case .staysOpen: "stays open"
            case .unaffected: "-"
            case .unknown: "unknown"
            }
        }
    }

    let process: Int32
    let program: String
    let user: String
    /// nil: the header is damaged or of a newer version.
    let protection: FileProtection?
    let path: String
    var access: DescriptorAccess

    private var className: String? { protection.map { FileClassName($0).rawValue } }
    private var whenLocked: WhenLocked { WhenLocked(protection) }

    static let headings = ["PID", "PROGRAM", "USER", "OPEN FOR", "CLASS", "WHEN LOCKED", "PATH"]

    var cells: [String] {
        [
            String(process), TerminalText.escape(program), TerminalText.escape(user), access.text, className ?? "?",
            whenLocked.text, TerminalText.escape(path),
        ]
    }

    var json: JSONValue {
        .object([
            ("pid", .number(Int64(process))), ("program", .string(program)), ("user", .string(user)),
            ("class", className.map { .string($0) } ?? .null), ("path", .string(path)),
            ("reading", .boolean(access.contains(.reading))), ("writing", .boolean(access.contains(.writing))),
            ("whenLocked", .string(whenLocked.rawValue)),
        ])
    }
}
