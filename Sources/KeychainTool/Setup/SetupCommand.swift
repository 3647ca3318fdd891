internal import ArgumentParser
internal import Foundation
internal import KeychainModel
internal import KeychainSystem

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
        if list { return try tell(ToolSetups.all.map { state(of: $0, surroundings) }) }
        var reports: [SetupReport] = []
        var failures: [String] = []
        for tool in tools.compactMap(ToolSetups.named) {
            let report: SetupReport
            do { report = try perform(tool, surroundings) } catch {
                failures.append("\(tool.name): \(Self.text(of: error))")
                continue
            }
            // The report tells of the changes that were made, even if others have failed.
            if let error = report.failure { failures.append("\(tool.name): \(Self.text(of: error))") }
            if json { reports.append(report) } else { try Console.write(report.text) }
        }
        if json { try tell(reports) }
        guard let last = failures.popLast() else { return }
        for failure in failures { Console.complain(failure) }
        throw ToolFailure(message: last)
    }

    private static func text(of error: any Error) -> String {
        switch error {
        case let error as ToolFailure: error.message ?? ""
        case let error as KeychainError: error.message
        default: error.localizedDescription
        }
    }

    private func tell(_ reports: [SetupReport]) throws {
        if json { return try Console.write(JSONValue.array(reports.map(\.json)).text + "\n") }
        for report in reports { try Console.write(report.text) }
    }

    private func state(of tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) -> SetupReport {
        var report = SetupReport(tool: tool.name, state: .absent, notes: [tool.summary])
        do {
            let plan = try tool.plan(surroundings)
            report.state = !plan.isPossible ? .impossible : plan.changes.isEmpty ? .present : .absent
            report.isEffective = plan.isEffective
            report.notes += plan.notes
        } catch {
            report.notes.append(Self.text(of: error))
        }
        return report
    }

    private func perform(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        if dryRun { return try undo ? plannedBack(tool, surroundings) : planned(tool, surroundings) }
        return try SetupRecord.withLock(surroundings.environment) {
            for change in try SetupRecord.readable(tool.name, surroundings.environment)?.changes ?? [] {
                try change.removeLeftover()
            }
            return try undo ? takeBack(tool, surroundings) : setUp(tool, surroundings)
        }
    }

    // MARK: Setting up

    private func planned(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        let plan = try tool.plan(surroundings)
        let state = !plan.isPossible ? SetupReport.State.impossible : plan.changes.isEmpty ? .present : .planned
        return SetupReport(
            tool: tool.name, state: state, changes: plan.changes, notes: plan.notes, isEffective: plan.isEffective)
    }

    private func setUp(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        var report = try planned(tool, surroundings)
        guard report.state == .planned else { return report }
        var record = try SetupRecord.of(tool.name, surroundings.environment) ?? SetupRecord()
        let formers = record.changes
        record.changes.removeAll { former in report.changes.contains { $0.path == former.path } }
        let first = record.changes.count
        // The record is written before the change, because a change without a record could not be taken back.
        record.changes += report.changes.map { change in
            formers.first { $0.path == change.path }.map(change.inheriting) ?? change
        }
        try record.write(tool.name, surroundings.environment)
        var made = first
        do {
            while made < record.changes.count {
                try record.changes[made].make()
                made += 1
            }
        } catch {
            if made == first {
                try formers.isEmpty
                    ? SetupRecord.remove(tool.name, surroundings.environment)
                    : SetupRecord(changes: formers).write(tool.name, surroundings.environment)
                throw error
            }
            report.failure = error
        }
        try record.write(tool.name, surroundings.environment)
        report.changes = Array(record.changes[first..<made])
        report.state = report.failure == nil ? .done : .partlyDone
        return report
    }

    // MARK: Taking back

    private func record(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupRecord {
        guard let record = try SetupRecord.of(tool.name, surroundings.environment) else {
            throw ToolFailure(message: "there is nothing to undo: this command has changed nothing for it")
        }
        return record
    }

    private func plannedBack(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        SetupReport(
            tool: tool.name, state: .plannedBack, changes: try record(tool, surroundings).changes,
            isEffective: state(of: tool, surroundings).isSetUp)
    }

    private func takeBack(_ tool: any ToolSetup.Type, _ surroundings: SetupSurroundings) throws -> SetupReport {
        var record = try record(tool, surroundings)
        var report = SetupReport(tool: tool.name, state: .takenBack)
        let all = record.changes
        // The files come first: the link stays as long as one of them names its program.
        for change in all.filter({ !$0.isLink }) + all.filter(\.isLink) where report.failure == nil || !change.isLink {
            do {
                try takeBack(change, of: tool, surroundings, &report)
                record.changes.removeAll { $0 == change }
                try record.write(tool.name, surroundings.environment)
            } catch {
                report.failure = report.failure ?? error
            }
        }
        for change in all where !record.changes.contains(change) {
            try removeDirectories(of: change, from: tool, surroundings)
        }
        if let failure = report.failure {
            if report.changes.isEmpty { throw failure }
            report.state = .partlyTakenBack
            return report
        }
        try SetupRecord.remove(tool.name, surroundings.environment)
        return report
    }

    private func takeBack(
        _ change: SetupChange, of tool: any ToolSetup.Type, _ surroundings: SetupSurroundings,
        _ report: inout SetupReport
    ) throws {
        if let heir = try heir(of: change, from: tool, surroundings) {
            report.notes.append("\(change.path) stays, since \(heir) uses it")
        } else if try change.takeBack() {
            report.changes.append(change)
        } else {
            report.notes.append("in \(change.path) is nothing any more of what was changed")
        }
    }

    /// Hands a link over to another tool that needs it. The undoing of that tool then takes the link back.
    ///
    /// - Returns: nil: no other tool needs the link.
    private func heir(
        of change: SetupChange, from tool: any ToolSetup.Type, _ surroundings: SetupSurroundings
    ) throws -> String? {
        guard case .link = change.content else { return nil }
        for other in ToolSetups.all where other.usesKeyring && other.name != tool.name {
            guard var record = try SetupRecord.readable(other.name, surroundings.environment) else {
                // The person has set the tool up by hand.
                if case .present = state(of: other, surroundings).state { return other.name }
                continue
            }
            // A command that was killed may have done this already.
            if !record.changes.contains(change) { record.changes.append(change) }
            try record.write(other.name, surroundings.environment)
            return other.name
        }
        return nil
    }

    /// Removes the new directories that are empty. A directory with another tool's file goes when that tool is undone.
    private func removeDirectories(
        of change: SetupChange, from tool: any ToolSetup.Type, _ surroundings: SetupSurroundings
    ) throws {
        for directory in change.newDirectories.reversed() where rmdir(directory) != 0 && errno == ENOTEMPTY {
            for other in ToolSetups.all where other.name != tool.name {
                guard var record = try SetupRecord.readable(other.name, surroundings.environment),
                    let place = record.changes.firstIndex(where: {
                        FilePath.rest(of: $0.path, below: directory)?.isEmpty == false
                    }), !record.changes[place].newDirectories.contains(directory)
                else { continue }
                record.changes[place].newDirectories.insert(directory, at: 0)
                try record.write(other.name, surroundings.environment)
                break
            }
        }
    }
}
