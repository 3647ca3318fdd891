internal import ArgumentParser
internal import Foundation

/// `keychaind`, against a server in C that does the same SQLite and OpenSSL work (`floor answer`).
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Measure keychaind against a server in C, in turn, and print a table.")

    @Option(help: "Numbers of items, with commas between them.")
    var items = "1000,10000,1000000"

    @Option(help: "Look-ups of one client, per size.")
    var lookUps = 20_000

    @Option(help: "Batches that the look-ups are dealt into: floor and daemon take turns.")
    var batches = 20

    @Option(help: "Turns that floor and daemon have under load.")
    var rounds = 5

    @Option(help: "Seconds of each such turn.")
    var seconds = 2.0

    @Option(help: "Starts of the daemon, per size.")
    var starts = 11

    @Option(help: "Seconds for which the idle daemon is watched.")
    var idleSeconds = 30

    @Option(help: "Directory for the filled stores, kept for the next run. It must be on a real disk.")
    var stores = ".build/benchmark-stores"

    @Option(help: "The program made from Benchmarks/Floor/floor.c.")
    var floor: String

    @Option(help: "The program made from Benchmarks/Floor/client.c.")
    var client: String

    @Option(help: "The program keychaind, built for release.")
    var daemon: String

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Flag(help: "End with status 1 if a goal is missed.")
    var strict = false

    func validate() throws {
        guard batches > 0, lookUps >= batches, rounds > 0, seconds > 0, starts > 0, idleSeconds > 0 else {
            throw ValidationError("every count must be at least 1, and look-ups at least one a batch")
        }
        guard !sizes.isEmpty, sizes.allSatisfy({ $0 >= SampleItem.perService }) else {
            throw ValidationError("--items takes numbers of at least \(SampleItem.perService)")
        }
    }

    func run() throws {
        var report = Report(floorTitle: "C server", engineTitle: "keychaind")
        for size in sizes {
            let layout = StoreLayout(root: URL(fileURLWithPath: stores), items: size)
            try StoreFiller(layout: layout, floor: floor).fillIfNeeded()
            report.rows += try measure(layout, isLargest: size == sizes.last)
        }
        print(json ? try report.json() : report.markdown())
        if strict && report.rows.contains(where: { $0.isMet == false }) { throw ExitCode.failure }
    }

    private func measure(_ layout: StoreLayout, isLargest: Bool) throws -> [Row] {
        tell("measuring keychaind at \(layout.items) items")
        try layout.warmUp()
        let setup = DaemonSetup(daemon: daemon, floor: floor, client: client, layout: layout)
        return try setup.withStore { () throws in
            var rows = try DaemonLookUpBenchmark(setup: setup, count: lookUps, batches: batches).run()
            let loads = DaemonLoadBenchmark(setup: setup, rounds: rounds, seconds: seconds)
            rows += try loads.run()
            rows.append(try DaemonStartBenchmark(setup: setup, count: starts).run())
            if isLargest { rows += try DaemonIdleBenchmark(setup: setup, seconds: idleSeconds).run() }
            return rows
        }
    }

    private var sizes: [Int] { StoreLayout.sizes(items) }
}
