internal import ArgumentParser
internal import Foundation
internal import Keychain
internal import KeychainModel

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what is wrong with the keychain, and say how to mend it.",
        discussion: """
            Every item is opened once. Nothing is changed and no store is made. The exit status is 0 if there is \
            nothing worse than a note, and 1 otherwise.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let diagnosis = Diagnosis(try KeychainSession(store))
        try Console.write(json ? diagnosis.json.text + "\n" : diagnosis.text)
        if !diagnosis.isHealthy { throw ExitCode(1) }
    }
}

/// Everything that was found, worst first.
struct Diagnosis {
    let findings: [StoreFinding]
    private let storePath: String
    /// nil if the items could not be looked at.
    private var checkedCount: Int?

    var isHealthy: Bool { findings.allSatisfy { $0.severity == .note } }

    init(_ session: KeychainSession) {
        storePath = session.location.storeDirectory.path
        let inspection = FileInspection(session.location)
        var findings = inspection.findings
        switch StorePresence(session.location) {
        case .absent:
            findings.append(StoreFinding(.note, "there is no keychain here yet", advice: "the first 'add' makes it"))
        case .incomplete(let missing):
            findings.append(Self.incomplete(missing))
        case .present where inspection.lacksDeviceKey: break
        case .present:
            do throws(KeychainError) {
                let count = try Self.announce(session)
                guard case .checked(let found) = try session.connection.perform(.check) else {
                    throw .unexpectedReply
                }
                findings += found
                checkedCount = count
            } catch  where error.code == .interactionNotAllowed {
                findings.append(Self.locked)
            } catch {
                findings.append(Self.unusable(error))
            }
        }
        self.findings = findings.sorted { $0.severity.rank > $1.severity.rank }
    }

    /// Says how long it may take, to a person.
    private static func announce(_ session: KeychainSession) throws(KeychainError) -> Int {
        guard case .status(let status) = try session.connection.perform(.status) else { throw .unexpectedReply }
        let count = status.itemCounts.values.reduce(0, +)
        if Console.errorIsTerminal { Console.note("checking \(count == 1 ? "1 item" : "\(count) items")…") }
        return count
    }

    private static func incomplete(_ missing: String) -> StoreFinding {
        if missing == "keybag" {
            return StoreFinding(
                .damage, "the database has no keybag: the store's making was cut short, or the file keybag was lost",
                advice: "if there were items, put keybag back from a backup, since nothing opens without it; "
                    + "otherwise the next command that uses it completes the store")
        }
        return StoreFinding(
            .damage, "the keybag has no database: the file \(missing) was lost",
            advice: "put \(missing) back from a backup; only if there is none, move keybag away to begin anew")
    }

    /// Locked is not damaged.
    private static var locked: StoreFinding {
        StoreFinding(
            .note, "the keychain is locked, so its items were not looked at",
            advice: "run 'keychain unlock' and then 'keychain doctor' again")
    }

    private static func unusable(_ error: KeychainError) -> StoreFinding {
        StoreFinding(
            .damage, "the keychain cannot be used (status \(error.code.status)): \(error.message)",
            advice: "nothing was changed; mend what the message names and run 'keychain doctor' again")
    }

    var text: String {
        var lines = Lines()
        lines.add("Store", storePath)
        if let checkedCount {
            lines.add("Checked", checkedCount == 1 ? "1 item" : "\(checkedCount) items")
        }
        for finding in findings {
            lines.add(finding.severity.rawValue, finding.text)
            lines.add("", "-> " + finding.advice)
        }
        if findings.isEmpty { lines.add("Result", "nothing is wrong") }
        return lines.text
    }

    var json: JSONValue {
        .object([
            ("store", .string(storePath)),
            ("healthy", .boolean(isHealthy)),
            ("checkedItems", checkedCount.map { .number(Int64($0)) } ?? .null),
            (
                "findings",
                .array(
                    findings.map { finding in
                        .object([
                            ("severity", .string(finding.severity.rawValue)), ("text", .string(finding.text)),
                            ("advice", .string(finding.advice)),
                        ])
                    })
            ),
        ])
    }
}

extension StoreFinding.Severity {
    fileprivate var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .damage: 2
        }
    }
}
