internal import ArgumentParser
internal import DataProtection
internal import Foundation

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
        let session = try KeychainSession(store)
        let (files, storeID) = (session.files, session.storeID)
        var reports: [FileInfoReport] = []
        var failures = FileFailures()
        TreeWalk(paths: arguments.paths, directories: .takenAlone, storeFiles: StoreFiles(session)).visit { finding in
            switch finding {
            case .directory(let path, _), .file(let path, _):
                do throws(DataProtectionError) {
                    reports.append(try FileInfoReport(path, files, storeID))
                } catch {
                    failures.add(FileFailure(error, path: path))
                }
            case .skipped: break
            case .failed(let failure): failures.add(failure)
            }
        }
        try Console.write(
            json ? JSONValue.array(reports.map(\.json)).text + "\n" : reports.map(\.text).joined(separator: "\n"))
        try failures.end()
    }
}
