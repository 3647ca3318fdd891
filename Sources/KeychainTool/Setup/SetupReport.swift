internal import Foundation

struct SetupReport {
    enum State: String {
        case absent = "not set up"
        case impossible = "nothing to set up"
        case present = "set up"
        case done = "changed"
        case planned = "would be changed"
        case partlyDone = "changed in part"
        case takenBack = "taken back"
        case partlyTakenBack = "taken back in part"
        case plannedBack = "would be taken back"
    }

    var tool: String
    var state: State
    var changes: [SetupChange] = []
    var notes: [String] = []
    /// Whether the tool asks the keychain when the setting is there.
    var isEffective = true
    /// The error that has ended the work after a part of it. It is told apart from the report.
    var failure: (any Error)?

    /// Whether the tool finds its secrets in the keychain now.
    var isSetUp: Bool { [.present, .done, .partlyTakenBack, .plannedBack].contains(state) && isEffective }

    private var isUndo: Bool { [.takenBack, .partlyTakenBack, .plannedBack].contains(state) }

    var text: String {
        var lines = ["\(tool): \(state.rawValue)"]
        for change in changes {
            let (gone, new) = taken(change.content.lines)
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
        let (gone, new) = taken(change.content.lines)
        return .object([
            ("path", .string(change.path)), ("removed", .array(gone.map { .string($0) })),
            ("added", .array(new.map { .string($0) })),
        ])
    }

    private func taken(_ lines: (removed: [String], added: [String])) -> (gone: [String], new: [String]) {
        isUndo ? (lines.added, lines.removed) : (lines.removed, lines.added)
    }
}
