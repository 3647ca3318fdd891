internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainSystem

struct FileInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Tell what protects files, and whether they open now.",
        discussion: """
            Content is not looked at. What a file's header says is certain only if the file opens.

            Example:
              keychainctl file info notes.txt
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try TreeRun.start(store, arguments, .takenAlone, holdsSignals: false) { session, run in
            var inspection = Inspection(files: session.files, storeID: session.storeID)
            try run.perform(&inspection, nil)
            let reports = inspection.reports
            try Console.write(json ? reports.json.text + "\n" : reports.map(\.text).joined(separator: "\n"))
            try run.end()
        }
    }
}

private struct Inspection: TreeOperation {
    let files: ProtectedFiles
    let storeID: UUID?
    var reports: [FileInfoReport] = []

    mutating func enter(_ directory: String, _: FileNumber?, below _: String) throws {
        reports.append(try FileInfoReport(directory, files, storeID))
    }

    mutating func perform(_ file: TreeWalk.FoundFile, below _: String) throws -> TreeRun.Outcome {
        reports.append(try FileInfoReport(file.path, files, storeID))
        return .done
    }
}
