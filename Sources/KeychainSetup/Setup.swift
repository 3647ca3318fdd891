internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// Lets tools find their secrets in the keychain, and takes that back.
package struct Setup {
    private let surroundings: SetupSurroundings

    /// - Parameter note: Shows a note to the person.
    package init(note: @escaping (String) -> Void) { surroundings = SetupSurroundings(note: note) }

    /// The text of a failure for a person.
    package static func text(of error: any Error) -> String {
        switch error {
        case let error as SetupFailure: error.message
        case let error as KeychainError: error.message
        default: error.localizedDescription
        }
    }

    package func state(of tool: SetupTool) -> SetupReport {
        var report = SetupReport(tool: tool.rawValue, state: .absent, notes: [tool.type.summary])
        do {
            let plan = try tool.type.plan(surroundings)
            report.state = !plan.isPossible ? .impossible : plan.changes.isEmpty ? .present : .absent
            report.isEffective = plan.isEffective
            report.notes += plan.notes
        } catch {
            report.notes.append(Self.text(of: error))
        }
        return report
    }

    // MARK: Setting up

    package func planned(_ tool: SetupTool) throws -> SetupReport {
        let plan = try tool.type.plan(surroundings)
        let state = !plan.isPossible ? SetupReport.State.impossible : plan.changes.isEmpty ? .present : .planned
        return SetupReport(
            tool: tool.rawValue, state: state, changes: plan.changes, notes: plan.notes, isEffective: plan.isEffective)
    }

    package func setUp(_ tool: SetupTool) throws -> SetupReport {
        try withLock(tool) { try setUpWithLock(tool) }
    }

    private func withLock<R>(_ tool: SetupTool, _ body: () throws -> R) throws -> R {
        try SetupRecord.withLock(surroundings.environment) {
            for change in try SetupRecord.readable(tool.rawValue, surroundings.environment)?.changes ?? [] {
                try change.removeLeftover()
            }
            return try body()
        }
    }

    private func setUpWithLock(_ tool: SetupTool) throws -> SetupReport {
        var report = try planned(tool)
        guard report.state == .planned else { return report }
        var record = try SetupRecord.of(tool.rawValue, surroundings.environment) ?? SetupRecord()
        let formers = record.changes
        record.changes.removeAll { former in report.changes.contains { $0.path == former.path } }
        let first = record.changes.count
        // The record is written before the change, because a change without a record could not be taken back.
        record.changes += report.changes.map { change in
            formers.first { $0.path == change.path }.map(change.inheriting) ?? change
        }
        try record.write(tool.rawValue, surroundings.environment)
        var made = first
        do {
            while made < record.changes.count {
                try record.changes[made].make(surroundings)
                made += 1
            }
        } catch {
            if made == first {
                try formers.isEmpty
                    ? SetupRecord.remove(tool.rawValue, surroundings.environment)
                    : SetupRecord(changes: formers).write(tool.rawValue, surroundings.environment)
                throw error
            }
            report.failure = error
        }
        try record.write(tool.rawValue, surroundings.environment)
        report.changes = Array(record.changes[first..<made])
        report.state = report.failure == nil ? .done : .partlyDone
        return report
    }

    // MARK: Taking back

    private func record(_ tool: SetupTool) throws -> SetupRecord {
        guard let record = try SetupRecord.of(tool.rawValue, surroundings.environment) else {
            throw SetupFailure(message: "there is nothing to undo: this command has changed nothing for it")
        }
        return record
    }

    package func plannedBack(_ tool: SetupTool) throws -> SetupReport {
        SetupReport(
            tool: tool.rawValue, state: .plannedBack, changes: try record(tool).changes,
            isEffective: state(of: tool).isSetUp)
    }

    package func takeBack(_ tool: SetupTool) throws -> SetupReport {
        try withLock(tool) { try takeBackWithLock(tool) }
    }

    private func takeBackWithLock(_ tool: SetupTool) throws -> SetupReport {
        var record = try record(tool)
        var report = SetupReport(tool: tool.rawValue, state: .takenBack)
        let all = record.changes
        // The files come first: the link stays as long as one of them names its program.
        for change in all.filter({ !$0.isLink }) + all.filter(\.isLink) where report.failure == nil || !change.isLink {
            do {
                try takeBack(change, of: tool, &report)
                record.changes.removeAll { $0 == change }
                try record.write(tool.rawValue, surroundings.environment)
            } catch {
                report.failure = report.failure ?? error
            }
        }
        for change in all where !record.changes.contains(change) {
            try removeDirectories(of: change, from: tool)
        }
        if let failure = report.failure {
            if report.changes.isEmpty { throw failure }
            report.state = .partlyTakenBack
            return report
        }
        try SetupRecord.remove(tool.rawValue, surroundings.environment)
        return report
    }

    private func takeBack(
        _ change: SetupChange, of tool: SetupTool,
        _ report: inout SetupReport
    ) throws {
        if let heir = try heir(of: change, from: tool) {
            report.notes.append("\(change.path) stays, since \(heir) uses it")
        } else if try change.takeBack(surroundings) {
            report.changes.append(change)
        } else {
            report.notes.append("in \(change.path) is nothing any more of what was changed")
        }
    }

    /// Hands a link over to another tool that needs it. The undoing of that tool then takes the link back.
    ///
    /// - Returns: nil: no other tool needs the link.
    private func heir(
        of change: SetupChange, from tool: SetupTool
    ) throws -> String? {
        guard case .link = change.content else { return nil }
        for other in SetupTool.allCases where other.type.usesKeyring && other.rawValue != tool.rawValue {
            guard var record = try SetupRecord.readable(other.rawValue, surroundings.environment) else {
                // The person has set the tool up by hand.
                if case .present = state(of: other).state { return other.rawValue }
                continue
            }
            // A command that was killed may have done this already.
            if !record.changes.contains(change) { record.changes.append(change) }
            try record.write(other.rawValue, surroundings.environment)
            return other.rawValue
        }
        return nil
    }

    /// Removes the new directories that are empty. A directory with another tool's file goes when that tool is undone.
    private func removeDirectories(
        of change: SetupChange, from tool: SetupTool
    ) throws {
        for directory in change.newDirectories.reversed() where rmdir(directory) != 0 && errno == ENOTEMPTY {
            for other in SetupTool.allCases where other.rawValue != tool.rawValue {
                guard var record = try SetupRecord.readable(other.rawValue, surroundings.environment),
                    let place = record.changes.firstIndex(where: {
                        FilePath.rest(of: $0.path, below: directory)?.isEmpty == false
                    }), !record.changes[place].newDirectories.contains(directory)
                else { continue }
                record.changes[place].newDirectories.insert(directory, at: 0)
                try record.write(other.rawValue, surroundings.environment)
                break
            }
        }
    }
}
