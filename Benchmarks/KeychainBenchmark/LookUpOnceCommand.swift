internal import ArgumentParser
internal import Foundation
internal import KeychainEngine

/// Run by the benchmark itself, as a process that has done nothing else.
struct LookUpOnceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "look-up-once", abstract: "Look one item up and print the memory that took.",
        shouldDisplay: false)

    @Option(help: "The directory that holds the stores.")
    var stores: String

    @Option(help: "The number of items in the store.")
    var items: Int

    /// Prints the largest resident size and the part of it that is of no file, in bytes.
    func run() throws {
        let layout = StoreLayout(root: URL(fileURLWithPath: stores), items: items)
        let engine = try makeEngine(directory: layout.engine, durable: true)
        let request = SampleItem.stored(items / 2, of: items).findRequest
        try engine.handle(request, from: SampleItem.caller).requireSecrets(1)
        print(Int(try ProcessFigures.peakResident()), Int(try ProcessFigures.anonymousResident()))
    }
}
