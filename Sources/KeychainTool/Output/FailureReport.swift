internal import KeychainModel

/// The failure that ended the command, in words or, with `--json`, as one line of JSON.
struct FailureReport: Keyed {
    static let fields: [Field<Self>] = [
        Field("status", "the exit status") { $0.status }, Field("code", "Apple's `OSStatus`, or null") { $0.code },
        Field("message", "the text, which may change") { $0.message },
        Field(
            "matches", "the items that match, where one was wanted; otherwise it is not there",
            when: { !$0.matches.isEmpty }
        ) { $0.matches },
    ]

    /// The exit status.
    var status: Int32
    /// Apple's status; nil: Apple has none for this failure.
    var code: Int32?
    var message: String
    /// The items that match where one is wanted.
    var matches: [Item] = []
}

extension FailureReport {
    init(_ error: KeychainError, matches: [Item] = []) {
        self.init(
            status: ExitStatus.of(error.code), code: error.code.status, message: error.message, matches: matches)
    }

    init(_ failure: FileFailure) { self.init(status: failure.status, message: failure.text) }

    func tell() {
        if Console.speaksJSON { return Console.writeErrorLine(JSONValue.object([("error", json)]).line) }
        Console.complain(message)
        guard !matches.isEmpty else { return }
        // The table is indented, so that no item looks like a message of this command.
        let table = ItemTable(
            items: matches, width: Console.errorWidth - 2, hasColors: Console.errorHasColors, showsWholePlaces: true)
        for line in table.lines { Console.writeErrorLine("  " + line) }
    }
}
