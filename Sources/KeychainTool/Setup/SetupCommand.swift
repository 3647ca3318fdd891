internal import ArgumentParser
internal import Foundation
internal import KeychainModel

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Let git, docker, cargo and other tools find their secrets in the keychain.",
        discussion: """
            Changes the tool's own configuration file: one line of it, with everything else as it is. What was changed is \
            shown, and --undo takes it back. A file that cannot be changed safely is left alone, and the message says what \
            to write into it.

            'keychainctl setup --list' shows the tools. docs/helpers.md says what each of them stores.
            """)

    @Argument(help: ArgumentHelp("The tools.", valueName: "tool"), completion: .list(ToolSetups.all.map { $0.name }))
    var tools: [String] = []
    @Flag(help: "Take back what was changed for the tools.") var undo = false
    @Flag(help: "Show the tools, and which of them are set up.") var list = false
    @Flag(help: "Show what would be changed, and change nothing.") var dryRun = false
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        for name in tools where ToolSetups.named(name) == nil {
            throw ValidationError(
                "There is no set-up for '\(name)': there are \(ToolSetups.all.map { $0.name }.joined(separator: ", "))."
            )
        }
        guard list == tools.isEmpty else {
            throw ValidationError(list ? "--list shows every tool: name none." : "Name a tool: --list shows them.")
        }
        if list && (undo || dryRun) { throw ValidationError("--list goes with --json alone.") }
    }

    func run() throws {
        let surroundings = SetupSurroundings()
        let reports =
            try list
            ? ToolSetups.all.map { try state(of: $0, surroundings) }
            : tools.map { name in
                try perform(ToolSetups.named(name)!, surroundings)  // validated
            }
        if json { return try Console.write(JSONValue.array(reports.map(\.json)).text + "\n") }
        for report in reports { try Console.write(report.text) }
    }

    private func state(of tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        let isSetUp = try SetupRecord.of(tool.name, surroundings.environment) != nil
        return SetupReport(tool: tool.name, state: isSetUp ? .present : .absent, notes: [tool.summary])
    }

    private func perform(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        do {
            return try undo ? takeBack(tool, surroundings) : setUp(tool, surroundings)
        } catch let error as ToolFailure {
            throw ToolFailure(message: error.message.map { "\(tool.name): \($0)" })
        }
    }

    private func setUp(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        let plan = try tool.plan(surroundings)
        var report = SetupReport(tool: tool.name, state: .present, changes: plan.changes, notes: plan.notes)
        if !plan.isPossible { report.state = .impossible }
        if plan.changes.isEmpty { return report }
        if dryRun {
            report.state = .planned
            return report
        }
        var record = try SetupRecord.of(tool.name, surroundings.environment) ?? SetupRecord()
        record.changes.removeAll { former in plan.changes.contains { $0.path == former.path } }
        // On the disk before the change itself: a change that nobody knows of could not be taken back.
        record.changes += plan.changes
        try record.write(tool.name, surroundings.environment)
        for change in plan.changes { record.madeDirectories += try change.make() }
        try record.write(tool.name, surroundings.environment)
        report.state = .done
        return report
    }

    private func takeBack(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        guard let record = try SetupRecord.of(tool.name, surroundings.environment) else {
            throw ToolFailure(message: "there is nothing to undo: this command has changed nothing for it")
        }
        var report = SetupReport(tool: tool.name, state: dryRun ? .plannedBack : .takenBack, changes: record.changes)
        if dryRun { return report }
        for change in record.changes.reversed() {
            if case .link = change, let heir = try handOver(change, from: tool, surroundings) {
                report.changes.removeAll { $0 == change }
                report.notes.append("\(change.path) stays, since \(heir) uses it")
            } else {
                try change.takeBack()
            }
        }
        // One that is in use by now is not empty, and stays.
        for directory in record.madeDirectories.reversed() { rmdir(directory) }
        try SetupRecord.remove(tool.name, surroundings.environment)
        return report
    }

    /// - Returns: The other tool that needs the link, and takes it back when it is undone. nil: there is none.
    private func handOver(
        _ link: SetupChange, from tool: any ToolSetup.Type, _ surroundings: SetupSurroundings
    ) throws -> String? {
        for other in ToolSetups.all where other.usesKeyring && other.name != tool.name {
            guard var record = try SetupRecord.of(other.name, surroundings.environment) else { continue }
            record.changes.append(link)
            try record.write(other.name, surroundings.environment)
            return other.name
        }
        return nil
    }
}
