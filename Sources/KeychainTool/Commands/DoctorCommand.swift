internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSalvage
internal import KeychainSystem

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what is wrong with the keychain, and say how to mend it.",
        discussion: """
            Every item is opened once. Nothing is changed, and no store is made. The exit status is 0 if there is nothing \
            worse than a note, and 1 otherwise.

            With --repair, if something is wrong with the database, everything that can be read is saved into a new \
            store, which takes this one's place; the damaged one is kept beside it. No other program may have the \
            keychain open. A locked keychain asks for its passcode (standard input, or a prompt). The exit status is 0 \
            if everything could be saved and nothing is wrong any more.

            If the keychain has seen the clock at a later time than it is, --repair makes it forget that time, and what \
            seemed to have expired is there again.

            With --compact the database is written anew without the space of what was deleted. Stores of this version \
            give it back by themselves. It needs as much free space as the database has, twice, and works with \
            a locked keychain too.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Save what can be read of a damaged store into a new one.") var repair = false
    @Flag(help: "Give the space of what was deleted back to the disk.") var compact = false
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        var diagnosis = try diagnose()
        let hasSeenLater = diagnosis.hasSeenLater
        if repair && hasSeenLater {
            try StoreLocation(store.configuration).forgetSeenTime()
            Console.note("the later time that the keychain had seen is forgotten")
            diagnosis = try diagnose()
        }
        if repair && diagnosis.isRepairable {
            if !json { try Console.write(diagnosis.text + "\n") }
            let report = try mend()
            diagnosis = try diagnose()
            diagnosis.repair = report
        } else if repair && !hasSeenLater && !json {
            Console.note("there is nothing that a repair would mend")
        }
        if compact {
            if diagnosis.isRepairable {
                try diagnosis.write(json: json)
                throw ToolFailure(
                    message: "a damaged database is not compacted, since that could lose what a repair saves")
            }
            let compaction = try Compaction.run(KeychainSession(store))
            diagnosis = try diagnose()
            diagnosis.compaction = compaction
        }
        try diagnosis.write(json: json)
        if !diagnosis.isHealthy || (diagnosis.repair?.unreadableCount ?? 0) > 0 { throw ExitCode(1) }
    }

    /// Looks through a connection of its own, which is closed at the end.
    private func diagnose() throws -> Diagnosis { Diagnosis(try KeychainSession(store)) }

    private func mend() throws -> RepairReport {
        let line = ProgressLine("Saving items")
        defer { line.end() }
        return try StoreLocation(store.configuration).repair(passcode: PasscodeInput.readPresent) { done, total in
            line.show(done, of: total)
        }
    }
}

struct Compaction: Keyed {
    static let fields: [Field<Self>] = [
        Field("bytesBefore", "the bytes on the disk before") { $0.bytesBefore },
        Field("bytesAfter", "the bytes on the disk now") { $0.bytesAfter },
    ]

    let bytesBefore: Int64
    let bytesAfter: Int64

    /// - Returns: nil if there is no store yet.
    static func run(_ session: KeychainSession) throws(KeychainError) -> Compaction? {
        guard case .present = session.presence else { return nil }
        let before = try session.connection.ask(.status).bytesOnDisk
        if Console.errorIsTerminal { Console.note("writing \(ByteCount.text(before)) anew…") }
        try session.askAsOwner(.done(.compact), to: "compact the keychain")
        return Compaction(bytesBefore: before, bytesAfter: try session.connection.ask(.status).bytesOnDisk)
    }
}

/// All findings, the worst first.
struct Diagnosis: Report {
    static let fields: [Field<Self>] = [
        Field("store", "the store's directory") { $0.storePath },
        Field("healthy", "whether nothing is worse than a note") { $0.isHealthy },
        Field("checkedItems", "a number, or null if the items could not be checked") { $0.checkedCount },
        Field(
            "findings",
            "an array of objects, the worst first: `severity` (`note`, `warning` or `damage`), `text` and `advice`"
        ) { $0.findings },
        Field(
            "repair",
            "null, or how many items were `saved`, how many are `unreadable`, and `oldStore`, the path of the old store"
        ) { $0.repair },
        Field("compaction", "null or an object with `bytesBefore` and `bytesAfter`") { $0.compaction },
    ]

    let findings: [StoreFinding]
    var repair: RepairReport?
    var compaction: Compaction?
    private let storePath: String
    /// Whether the keychain has seen a later time on the clock than the present one. A repair makes it forget that.
    let hasSeenLater: Bool
    /// nil: the items could not be looked at.
    private var checkedCount: Int?

    var isRepairable: Bool { findings.contains { $0.isRepairable } }

    var isHealthy: Bool { findings.allSatisfy { $0.severity == .note } }

    init(_ session: KeychainSession) {
        let told = Result { () throws(KeychainError) in try session.location() }
        let location = (try? told.get()) ?? nil
        storePath = location?.storeDirectory.path ?? session.host.place
        let inspection = location.map { FileInspection($0, isEmbedded: session.isEmbedded) }
        var findings = inspection?.findings ?? []
        hasSeenLater = inspection?.hasSeenLater ?? false
        switch session.presence {
        case _ where inspection?.explainsRefusal == true: break
        case .absent:
            findings.append(StoreFinding(.note, "there is no keychain here yet", advice: "the first 'add' makes it"))
        case .incomplete(let missing):
            findings.append(.incomplete(missing))
        case .present:
            do throws(KeychainError) {
                // The command waits for a silent daemon only once.
                if case .failure(let error) = told, error.signal?.isOfWaiting == true { throw error }
                findings += StoreFinding.delay(try session.connection.lockStatus())
                let count = try session.itemCount()
                if Console.errorIsTerminal { Console.note("checking \(counted(count, "item"))…") }
                if try session.connection.granted() != nil {
                    findings += StoreFinding.hiddenProcesses + [session.unmoved].compactMap(\.self)
                }
                let found = try Self.check(session)
                findings += found ?? [.notChecked]
                checkedCount = found == nil ? nil : count
                if found?.contains(where: { $0.severity == .damage }) != true {
                    findings += try CertificateFindings.all(in: session)
                }
            } catch  where error.code == .interactionNotAllowed {
                findings.append(.locked)
            } catch {
                findings.append(.unusable(error, isDaemons: !session.isEmbedded))
            }
        }
        self.findings = StoreFinding.Severity.allCases.reversed().flatMap { severity in
            findings.filter { $0.severity == severity }
        }
    }

    /// nil: with the system's daemon that is for the owner, and nothing shows that the command works for it.
    private static func check(_ session: KeychainSession) throws(KeychainError) -> [StoreFinding]? {
        guard try session.connection.granted() != nil else { return try session.connection.ask(.check) }
        do throws(KeychainError) {
            return try session.askAsOwner(.check, to: "check all items")
        } catch  where [.interactionNotAllowed, .userCancelled, .missingEntitlement].contains(error.code) {
            return nil
        }
    }

    var text: String {
        var lines = Lines()
        lines.add("Store", storePath)
        if let repair {
            lines.add("Saved", counted(repair.savedCount, "item"))
            if repair.unreadableCount > 0 {
                lines.add("Not readable", "\(repair.unreadableCount), kept in the old store")
            }
            lines.add("Old store", repair.oldStorePath)
        }
        if let compaction {
            lines.add(
                "Compacted", "\(ByteCount.text(compaction.bytesBefore)) to \(ByteCount.text(compaction.bytesAfter))")
        }
        if let checkedCount {
            lines.add("Checked", counted(checkedCount, "item"))
        }
        for finding in findings {
            let severity = finding.severity.rawValue
            lines.add(severity, finding.text, emphasizing: finding.severity == .note ? nil : severity)
            lines.add("", "-> " + finding.advice)
        }
        if findings.isEmpty { lines.add("Result", "nothing is wrong") }
        return lines.text
    }
}

extension StoreFinding: Keyed {
    static let fields: [Field<Self>] = [
        Field("severity", "`note`, `warning` or `damage`") { $0.severity.rawValue },
        Field("text", "the fault") { $0.text },
        Field("advice", "the way to mend it") { $0.advice },
    ]
}

extension RepairReport: Keyed {
    static let fields: [Field<Self>] = [
        Field("saved", "the items in the new store") { $0.savedCount },
        Field("unreadable", "the items that are in the old store alone") { $0.unreadableCount },
        Field("oldStore", "its path") { $0.oldStorePath },
    ]
}
