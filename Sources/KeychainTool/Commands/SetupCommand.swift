internal import ArgumentParser
internal import KeychainModel
internal import KeychainSetup

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Let git, docker, cargo and other tools find their secrets in the keychain.",
        discussion: """
            Changes one setting of the tool's own configuration, with everything else in the file as it is. The change is \
            shown, and --undo takes it back. A file that cannot be changed safely is left alone, and the message says what \
            to write into it.

            'keychainctl setup --list' shows the tools. docs/helpers.md says what each of them stores.
            """)

    @Argument(
        help: ArgumentHelp("The tools.", valueName: "tool"), completion: .list(SetupTool.allCases.map(\.rawValue)))
    var tools: [String] = []
    @Flag(help: "Take back what was changed for the tools.") var undo = false
    @Flag(help: "Show the tools, and which of them are set up.") var list = false
    @Flag(help: "Show what would be changed, and change nothing.") var dryRun = false
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        for name in tools where SetupTool(rawValue: name) == nil {
            throw ValidationError(
                "There is no set-up for '\(name)': there are \(SetupTool.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        guard list == tools.isEmpty else {
            throw ValidationError(list ? "--list shows every tool: name none." : "Name a tool: --list shows them.")
        }
        if list && (undo || dryRun) { throw ValidationError("--list goes with --json alone.") }
    }

    func run() throws {
        let setup = Setup(note: { Console.note($0) })
        if list { return try tell(SetupTool.allCases.map(setup.state)) }
        var reports: [SetupReport] = []
        var failures: [String] = []
        for tool in tools.compactMap(SetupTool.init) {
            let report: SetupReport
            do { report = try perform(tool, setup) } catch {
                failures.append("\(tool.rawValue): \(Setup.text(of: error))")
                continue
            }
            // The report tells of the changes that were made, even if others have failed.
            if let error = report.failure { failures.append("\(tool.rawValue): \(Setup.text(of: error))") }
            if json { reports.append(report) } else { try Console.write(report.text) }
        }
        if json { try tell(reports) }
        guard let last = failures.popLast() else { return }
        for failure in failures { Console.complain(failure) }
        throw ToolFailure(message: last)
    }

    private func perform(_ tool: SetupTool, _ setup: Setup) throws -> SetupReport {
        if dryRun { return try undo ? setup.plannedBack(tool) : setup.planned(tool) }
        return try undo ? setup.takeBack(tool) : setup.setUp(tool)
    }

    private func tell(_ reports: [SetupReport]) throws {
        if json { return try reports.writeJSON() }
        for report in reports { try Console.write(report.text) }
    }
}

extension SetupReport: JSONConvertible {
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
            ("tool", tool.json), ("state", state.rawValue.json), ("isSetUp", isSetUp.json),
            ("changes", changes.map(json).json), ("notes", notes.json),
        ])
    }

    private func json(_ change: SetupChange) -> JSONValue {
        let (gone, new) = taken(change.lines)
        return .object([("path", change.path.json), ("removed", gone.json), ("added", new.json)])
    }

    private func taken(_ lines: (removed: [String], added: [String])) -> (gone: [String], new: [String]) {
        isUndo ? (lines.added, lines.removed) : (lines.removed, lines.added)
    }
}
