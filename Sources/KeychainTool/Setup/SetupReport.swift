internal import Foundation

/// What became of one tool.
struct SetupReport {
    enum State: String {
        case absent = "not set up"
        case impossible = "nothing to set up"
        case present = "set up"
        case done = "changed"
        case planned = "would be changed"
        case takenBack = "taken back"
        case plannedBack = "would be taken back"
    }

    var tool: String
    var state: State
    var changes: [SetupChange] = []
    var notes: [String] = []

    private var isUndo: Bool { state == .takenBack || state == .plannedBack }

    var text: String {
        var lines = ["\(tool): \(state.rawValue)"]
        for change in changes {
            lines.append("  " + TerminalText.escape(change.path))
            lines += change.lines.map { "    \(($0.isAdded != isUndo) ? "+" : "-") \(TerminalText.escape($0.text))" }
        }
        lines += notes.map {
            TerminalText.fold(TerminalText.escape($0), after: "  note: ", indent: 4, width: Console.outputWidth)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: JSONValue {
        let isDone = [.present, .done, .planned].contains(state)
        return .object([
            ("tool", .string(tool)), ("state", .string(state.rawValue)), ("isSetUp", .boolean(isDone)),
            ("changes", .array(changes.map(\.json))), ("notes", .array(notes.map { .string($0) })),
        ])
    }
}

extension SetupChange {
    fileprivate var lines: [(isAdded: Bool, text: String)] {
        func lines(_ bytes: Data) -> [String] {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
                String($0).replacing("\t", with: "    ")
            }
        }
        switch self {
        case .edit(_, let edit, _):
            return lines(edit.removed).map { (false, $0) } + lines(edit.inserted).map { (true, $0) }
        case .link(_, let target): return [(true, "link to \(target)")]
        }
    }

    fileprivate var json: JSONValue {
        func text(_ isAdded: Bool) -> JSONValue {
            .array(lines.filter { $0.isAdded == isAdded }.map { .string($0.text) })
        }
        return .object([("path", .string(path)), ("removed", text(false)), ("added", text(true))])
    }
}
