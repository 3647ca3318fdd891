internal import KeychainModel

/// Lets tools find their secrets in the keychain, and takes that back.
package struct Setup {
    private let surroundings: SetupSurroundings

    /// - Parameter note: Shows a note to the person.
    package init(note: @escaping (String) -> Void) { surroundings = SetupSurroundings(note: note) }

    /// The text of a failure for a person.
    package static func text(of error: any Error) -> String {
        (error as? SetupFailure)?.message ?? KeychainModel.text(of: error)
    }

    private func withLock<R>(_ tool: SetupTool, _ body: () throws -> R) throws -> R {
        try SetupRecord.withLock(surroundings.environment) {
            for change in try readable(tool.rawValue) { try change.removeLeftover() }
            return try body()
        }
    }

    private func record(_ name: String) throws -> SetupRecord { try SetupRecord(name, surroundings.environment) }

    /// The changes in a record, none if it is damaged.
    private func readable(_ name: String) throws -> [SetupChange] {
        try SetupRecord.readable(name, surroundings.environment)?.changes ?? []
    }

    // MARK: Setting up

    package func state(of tool: SetupTool) -> SetupReport {
        var report = SetupReport(tool: tool.rawValue, state: .absent, notes: [tool.type.summary])
        do {
            let plan = try planned(tool)
            if plan.state != .planned { report.state = plan.state }
            report.isEffective = plan.isEffective
            report.notes += plan.notes
        } catch {
            report.notes.append(Self.text(of: error))
        }
        return report
    }

    package func planned(_ tool: SetupTool) throws -> SetupReport {
        let plan = try tool.type.plan(surroundings)
        let state = !plan.isPossible ? SetupReport.State.impossible : plan.changes.isEmpty ? .present : .planned
        return SetupReport(
            tool: tool.rawValue, state: state, changes: plan.changes, notes: plan.notes, isEffective: plan.isEffective)
    }

    package func setUp(_ tool: SetupTool) throws -> SetupReport {
        // Where nothing is to be changed, there is no need for a lock or a record. Only a set-up of ours that was killed
        // may have left something.
        let plan = try planned(tool)
        guard try plan.state == .planned || !readable(tool.rawValue).isEmpty else { return plan }
        return try withLock(tool) {
            var report = try planned(tool)
            let changes = report.changes
            guard report.state == .planned else { return report }
            // Every record that will be written can be, before the first change.
            for change in changes { _ = try record(name(ofRecordOf: change, for: tool)) }
            (report.state, report.changes) = (.done, [])
            for change in changes {
                do {
                    try make(change, for: tool)
                    report.changes.append(change)
                } catch {
                    if report.changes.isEmpty { throw error }
                    (report.state, report.failure) = (.partlyDone, error)
                    break
                }
            }
            return report
        }
    }

    private func name(ofRecordOf change: SetupChange, for tool: SetupTool) -> String {
        change.isLink ? SetupRecord.ofLink : tool.rawValue
    }

    private func make(_ change: SetupChange, for tool: SetupTool) throws {
        let made = try (SetupTool.allCases.map(\.rawValue) + [SetupRecord.ofLink]).flatMap(readable)
        var record = try record(name(ofRecordOf: change, for: tool))
        let former = record.changes
        let recorded = change.recorded(
            after: former.first { $0.path == change.path }, Set(made.flatMap(\.newDirectories)))
        // The record comes first, because a change without a record could not be taken back.
        try record.replace(with: former.filter { $0.path != change.path } + [recorded])
        do { try recorded.make(surroundings) } catch {
            recorded.removeDirectories()
            try record.replace(with: former)
            throw error
        }
    }

    // MARK: Taking back

    package func plannedBack(_ tool: SetupTool) throws -> SetupReport {
        SetupReport(
            tool: tool.rawValue, state: .plannedBack, changes: try recordsToTakeBack(tool).flatMap(\.changes),
            isEffective: state(of: tool).isSetUp)
    }

    package func takeBack(_ tool: SetupTool) throws -> SetupReport {
        _ = try recordsToTakeBack(tool)
        return try withLock(tool) {
            var report = SetupReport(tool: tool.rawValue, state: .takenBack)
            // The link stays as long as a file names its program.
            for record in try recordsToTakeBack(tool) where report.failure == nil { takeBack(record, &report) }
            if let other = try otherUserOfLink(than: tool), let link = try readable(SetupRecord.ofLink).first {
                report.notes.append("\(link.path) stays, since \(other.rawValue) uses it")
            }
            if tool.type.usesKeyring, let flaw = try flawOfLinkRecord() { report.notes.append(flaw) }
            guard let failure = report.failure else { return report }
            if report.changes.isEmpty { throw failure }
            report.state = .partlyTakenBack
            return report
        }
    }

    /// The tool's record, and that of the link if no other tool uses it.
    private func recordsToTakeBack(_ tool: SetupTool) throws -> [SetupRecord] {
        var records = [try record(tool.rawValue)]
        // A damaged record of the link keeps no file from being taken back.
        if tool.type.usesKeyring, try otherUserOfLink(than: tool) == nil, try flawOfLinkRecord() == nil {
            records.append(try record(SetupRecord.ofLink))
        }
        guard records.contains(where: { !$0.changes.isEmpty }) else {
            throw SetupFailure(message: "there is nothing to undo: this command has changed nothing for it")
        }
        return records
    }

    private func flawOfLinkRecord() throws -> String? {
        do {
            _ = try record(SetupRecord.ofLink)
            return nil
        } catch let failure as SetupFailure {
            return failure.message
        }
    }

    /// Another tool that uses the link, even if a person has set the tool up by hand.
    private func otherUserOfLink(than tool: SetupTool) throws -> SetupTool? {
        guard tool.type.usesKeyring else { return nil }
        return try SetupTool.allCases.first { other in
            guard other != tool, other.type.usesKeyring else { return false }
            return try !readable(other.rawValue).isEmpty || state(of: other).state == .present
        }
    }

    private func takeBack(_ record: SetupRecord, _ report: inout SetupReport) {
        var record = record
        for change in record.changes {
            do {
                if try change.takeBack(surroundings) {
                    report.changes.append(change)
                } else {
                    report.notes.append("in \(change.path) is nothing any more of what was changed")
                }
                try record.replace(with: record.changes.filter { $0 != change })
                change.removeDirectories()
            } catch {
                report.failure = report.failure ?? error
            }
        }
    }
}
