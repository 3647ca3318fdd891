internal import KeychainModel

/// The failure that ended the command, in words or, with `--json`, as one line of JSON.
struct FailureReport {
    /// The exit status.
    var status: Int32
    /// Apple's status; nil: Apple has none for this failure.
    var code: Int32?
    var message: String
    /// The items that match where one is wanted.
    var matches: [Item] = []

    init(status: Int32, message: String) {
        (self.status, self.message) = (status, message)
    }

    init(_ error: KeychainError, matches: [Item] = []) {
        (status, code) = (ExitStatus.of(error.code), error.code.status)
        (message, self.matches) = (error.message, matches)
    }

    func tell() {
        if Console.speaksJSON { return Console.writeErrorLine(json.line) }
        Console.complain(message)
        guard !matches.isEmpty else { return }
        // The table is indented, so that no item looks like a message of this command.
        let table = ItemTable(
            items: matches, width: Console.errorWidth - 2, hasColors: Console.errorHasColors, showsWholePlaces: true)
        for line in table.lines { Console.writeErrorLine("  " + line) }
    }

    var json: JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("status", .number(Int64(status))), ("code", code.map { .number(Int64($0)) } ?? .null),
            ("message", .string(message)),
        ]
        if !matches.isEmpty { members.append(("matches", .array(matches.map(\.json)))) }
        return .object([("error", .object(members))])
    }
}
