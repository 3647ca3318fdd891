internal import KeychainSetup

extension SetupReport {
    private var isUndo: Bool { [.takenBack, .partlyTakenBack, .plannedBack].contains(state) }

    var text: String {
        var lines = ["\(tool): \(state.rawValue)"]
        for change in changes {
            let (gone, new) = taken(change.lines)
            lines.append("  " + TerminalText.escape(change.path))
            lines += gone.map { "    - \(TerminalText.escape($0))" } + new.map { "    + \(TerminalText.escape($0))" }
        }
        lines += notes.map {
            TerminalText.fold(TerminalText.escape($0), after: "  note: ", indent: 4, width: Console.outputWidth)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: JSONValue {
        .object([
            ("tool", .string(tool)), ("state", .string(state.rawValue)), ("isSetUp", .boolean(isSetUp)),
            ("changes", .array(changes.map(json))), ("notes", .array(notes.map { .string($0) })),
        ])
    }

    private func json(_ change: SetupChange) -> JSONValue {
        let (gone, new) = taken(change.lines)
        return .object([
            ("path", .string(change.path)), ("removed", .array(gone.map { .string($0) })),
            ("added", .array(new.map { .string($0) })),
        ])
    }

    private func taken(_ lines: (removed: [String], added: [String])) -> (gone: [String], new: [String]) {
        isUndo ? (lines.added, lines.removed) : (lines.removed, lines.added)
    }
}
