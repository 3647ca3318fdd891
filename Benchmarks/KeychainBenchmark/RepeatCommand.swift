internal import ArgumentParser
internal import Foundation
internal import KeychainClient
internal import KeychainEngine
internal import SwiftKeychain

/// One kind of work and nothing else: for a profiler to look at.
struct RepeatCommand: ParsableCommand {
    enum Work: String, ExpressibleByArgument, CaseIterable {
        case lookUp = "look-up", hits, facade, rekey
        case lookUpWithPasscode = "look-up-with-passcode"
    }

    static let configuration = CommandConfiguration(
        commandName: "repeat", abstract: "Repeat one kind of work on a store that was filled, for a profiler.")

    @Argument(help: "What to do.")
    var work: Work

    @Option(help: "The directory that holds the stores.")
    var stores = ".build/benchmark-stores"

    @Option(help: "The number of items in the store.")
    var items = 1000

    @Option(help: "How many times.")
    var count = 100_000

    func run() throws {
        let layout = StoreLayout(root: URL(fileURLWithPath: stores), items: items)
        guard layout.isFilled else {
            throw BenchmarkError("there is no store of \(items) items in \(stores): run the benchmark first")
        }
        let figure = Figure(samples: try samples(layout))
        print("\(work.rawValue): median \(figure.median) µs, p99 \(figure.percentile99 ?? 0) µs")
    }

    private func samples(_ layout: StoreLayout) throws -> [Double] {
        switch work {
        case .rekey, .lookUpWithPasscode:
            try PasscodeStore.with(copyOf: layout) { store in
                try store.withEngine(passcodeCost: 1) { try samples(on: $0) }
            }
        case .lookUp, .hits, .facade:
            try samples(on: try makeEngine(directory: layout.engine, durable: true))
        }
    }

    private func samples(on engine: Engine) throws -> [Double] {
        let plan = Plan(lookUps: count, adds: 1, hits: count, batches: 1, unlocks: 1)
        switch work {
        case .lookUp, .lookUpWithPasscode:
            var random = RandomNumbers()
            return try LookUps(items: items, engine: engine).samples(count, &random)
        case .hits:
            return try (0..<count).map { _ in try Hits(items: items, engine: engine).sample() }
        case .facade:
            return try FacadeBenchmark(plan: plan, items: items, engine: engine).samplesOfEverything()
        case .rekey:
            var passcodes = Passcodes()
            let renewals = RekeyBenchmark(items: items, engine: engine)
            return try (0..<count).flatMap { _ in try renewals.renew(&passcodes) }
        }
    }
}
