internal import ArgumentParser
internal import DataProtection
internal import Foundation
internal import KeychainClient
internal import SwiftKeychain

/// Protected files against plain ones, age and gocryptfs.
struct FilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files", abstract: "Measure protected files against plain ones, in turn, and print a table.")

    @Option(help: "Size of the large file, in MiB.")
    var size = 512

    @Option(help: "Turns that each way of writing and reading it has.")
    var rounds = 7

    @Option(help: "Small files that are made, of 1 KiB each.")
    var files = 5000

    @Flag(help: "Measure files that stay open, instead.")
    var open = false

    @Option(help: "How many files are open when the keychain is locked.")
    var handles = 10_000

    @Option(help: "A directory on a real disk. What is made there is removed.")
    var directory = "/var/tmp"

    @Option(help: "The program age, if it is to be compared.")
    var age: String?

    @Option(help: "A directory that is a mount of gocryptfs, if it is to be compared.")
    var gocryptfs: String?

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Flag(help: "End with status 1 if a goal is missed.")
    var strict = false

    func validate() throws {
        guard size > 0, rounds > 0, files > 0, handles > 0 else {
            throw ValidationError("every count must be at least 1")
        }
    }

    func run() throws {
        let place = URL(fileURLWithPath: directory).appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(at: place) } catch { tell("\(place.path) stays: \(error)") }
        }
        var configuration = KeychainConfiguration()
        configuration.host = .embedded
        configuration.storeDirectory = place.appendingPathComponent("store")
        configuration.deviceKeyDirectory = place.appendingPathComponent("device")
        let files = ProtectedFiles(configuration)
        let bench = FilesBenchmark(files: files, directory: place, plan: self)
        let handles = HandlesBenchmark(
            files: files, lock: KeychainLock(configuration), directory: place, plan: self)
        var report = Report(floorTitle: "compared with", engineTitle: "protected")
        let parts =
            open
            ? [handles.randomBlocks, handles.sequential, handles.opening, handles.locking]
            : [bench.large, bench.withAge, bench.small, bench.classChange, bench.memory]
        for part in parts { report.rows += try part() }
        print(try json ? report.json() : report.markdown())
        if strict && report.rows.contains(where: { $0.isMet == false }) { throw ExitCode.failure }
    }
}
