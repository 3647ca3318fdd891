internal import ArgumentParser
internal import Foundation

/// Keys: in this process against swift-crypto, and in the daemon. Certificates: into a store.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Measure signing and verifying against swift-crypto, in turn, and print a table."
    )

    @Option(help: "Calls of each kind.")
    var calls = 2_000

    @Option(help: "Batches that the calls are dealt into.")
    var batches = 20

    @Option(help: "Directory for the filled store, kept for the next run.")
    var stores = ".build/benchmark-stores"

    @Option(help: "The program made from Benchmarks/Floor/floor.c.")
    var floor: String

    @Option(help: "The program made from Benchmarks/Floor/client.c.")
    var client: String

    @Option(help: "The program made from Benchmarks/Floor/verify.c.")
    var verifier: String

    @Option(help: "The program keychaind, built for release.")
    var daemon: String

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    func validate() throws {
        guard batches > 0, calls >= batches else { throw ValidationError("there is at least one call a batch") }
    }

    func run() throws {
        var report = Report(floorTitle: "swift-crypto, or the least", engineTitle: "ours")
        report.rows += try SoftwareKeyBenchmark(count: calls, batches: batches).run()
        report.rows += try TrustBenchmark(verifier: verifier, count: calls, batches: batches).run()
        let place = URL(fileURLWithPath: stores)
        report.rows.append(try CertificateBenchmark(directory: place, repeats: 5).run())
        let layout = StoreLayout(root: place, items: 1_000)
        try StoreFiller(layout: layout, floor: floor).fillIfNeeded()
        let setup = DaemonSetup(daemon: daemon, floor: floor, client: client, layout: layout)
        report.rows += try setup.withStore {
            try DaemonKeyBenchmark(setup: setup, count: calls, batches: batches).run()
        }
        print(json ? try report.json() : report.markdown())
    }
}
