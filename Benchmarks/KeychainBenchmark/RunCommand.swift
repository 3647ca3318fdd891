internal import ArgumentParser
internal import Foundation

/// Everything, at every size asked for.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the benchmark and print a table.")

    @Option(help: "Numbers of items, with commas between them.")
    var items = "1000,10000,100000,1000000"

    @Option(help: "Look-ups per size.")
    var lookUps = 4000

    @Option(help: "Durable adds per size.")
    var adds = 1000

    @Option(help: "Calls that give 1,000 hits, per size.")
    var hits = 40

    @Option(help: "Batches that the look-ups and adds are dealt into: engine and floor take turns.")
    var batches = 20

    @Option(help: "Unlocks and changes of the passcode, per size.")
    var unlocks = 15

    @Option(help: "Directory for the filled stores, kept for the next run. It must be on a real disk.")
    var stores = ".build/benchmark-stores"

    @Option(help: "The program made from Benchmarks/Floor/floor.c.")
    var floor: String

    @Option(help: "The program made from Benchmarks/Floor/race.c; without it no whole process is measured.")
    var race: String?

    @Option(help: "The command keychainctl, built for release.")
    var keychain: String?
    @Option(help: "keychainctl under the name keychain-helper.")
    var helper: String?

    @Option(help: "The script Benchmarks/compare-secret-tool.")
    var compareSecretTool: String?

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Flag(help: "End with status 1 if a goal is missed.")
    var strict = false

    func validate() throws {
        guard batches > 0, lookUps >= batches, adds >= batches, hits > 0, unlocks > 0 else {
            throw ValidationError("every count must be at least 1, and look-ups and adds at least one a batch")
        }
        guard !sizes.isEmpty, sizes.allSatisfy({ $0 >= SampleItem.perService }) else {
            throw ValidationError("--items takes numbers of at least \(SampleItem.perService)")
        }
    }

    func run() throws {
        var report = Report()
        for size in sizes {
            try StoreFiller(layout: layout(size), floor: floor).fillIfNeeded()
            report.rows += try SizeBenchmark(plan: plan, layout: layout(size), floor: floor).run()
            report.rows += try LockBenchmark(plan: plan, layout: layout(size)).run()
        }
        report.rows += Growth.rows(from: report.rows)
        let processes = ProcessBenchmark(programs: programs, layout: layout(sizes[sizes.count - 1])).run()
        report.rows += processes.rows
        print(json ? try report.json() : report.markdown())
        let missesGoal = report.rows.contains { $0.isMet == false }
        if processes.hasFailed || (strict && missesGoal) { throw ExitCode.failure }
    }

    private func layout(_ size: Int) -> StoreLayout { StoreLayout(root: URL(fileURLWithPath: stores), items: size) }

    private var sizes: [Int] { StoreLayout.sizes(items) }

    private var plan: Plan { Plan(lookUps: lookUps, adds: adds, hits: hits, batches: batches, unlocks: unlocks) }

    private var programs: ProcessBenchmark.Programs {
        ProcessBenchmark.Programs(race: race, keychain: keychain, helper: helper, compareSecretTool: compareSecretTool)
    }
}
