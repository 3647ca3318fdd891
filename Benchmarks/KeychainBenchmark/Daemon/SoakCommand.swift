internal import ArgumentParser
internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import SwiftKeychain
internal import Synchronization

/// Very many calls of one daemon, and what it has of memory, descriptors and threads meanwhile.
struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak", abstract: "Call keychaind very often, and print whether it grows.")

    @Option(help: "Calls in all.")
    var calls = 1_000_000

    @Option(help: "Clients at a time. Each connects anew after every thousand calls.")
    var clients = 8

    @Option(help: "Lines of the table.")
    var steps = 10

    @Option(help: "Items that are there from the beginning.")
    var items = 1000

    @Option(help: "Directory for a store that is thrown away, on a real disk.")
    var stores = ".build/benchmark-stores"

    @Option(help: "The program made from Benchmarks/Floor/floor.c, for filling the store.")
    var floor: String

    @Option(help: "The program keychaind, built for release.")
    var daemon: String

    /// What the daemon may have more at the end than after the first step, in bytes of its own.
    private static let growthAllowed = 2_000_000.0

    func validate() throws {
        guard clients > 0, steps > 1, calls >= clients * steps else {
            throw ValidationError("there must be a client, two steps, and a call for each client in each step")
        }
    }

    func run() throws {
        let layout = StoreLayout(
            root: URL(fileURLWithPath: stores).appendingPathComponent("soak-\(getpid())"), items: items)
        defer { try? FileManager.default.removeItem(at: layout.root) }
        try StoreFiller(layout: layout, floor: floor).fillIfNeeded()
        try layout.giveToDaemon()
        let daemon = try DaemonProcess(daemon, layout)
        _ = try daemon.firstAnswer(to: SampleItem.stored(0, of: items).findRequest)
        print("| calls | resident | … no part of a file | descriptors | threads | calls a second |")
        print("| --- | --- | --- | --- | --- | --- |")
        var states = [try state(of: daemon, calls: 0, rate: nil)]
        for step in 1...steps {
            let count = calls / steps / clients
            let timed = try Stopwatch.time { try callTogether(daemon, count, step) }
            let rate = Double(count * clients) / timed.microseconds * 1e6
            states.append(try state(of: daemon, calls: step * count * clients, rate: rate))
        }
        try judge(states)
    }

    private struct State {
        var memory: Double
        var descriptors: Int
        var threads: Double
    }

    private func state(of daemon: DaemonProcess, calls: Int, rate: Double?) throws -> State {
        // The daemon notices on its own that clients have gone.
        usleep(500_000)
        let process = daemon.processID
        let state = State(
            memory: try ProcessFigures.anonymousResident(of: process),
            descriptors: try ProcessFigures.descriptors(of: process), threads: try ProcessFigures.threads(of: process))
        let cells = [
            "\(calls)", megabytes(try ProcessFigures.resident(of: process)), megabytes(state.memory),
            "\(state.descriptors)", "\(Int(state.threads))", rate.map { "\(Int($0))" } ?? "–",
        ]
        print("| " + cells.joined(separator: " | ") + " |")
        fflush(nil)
        return state
    }

    private func megabytes(_ bytes: Double) -> String { String(format: "%.1f MB", bytes / 1e6) }

    /// Whether it grew after the first step, in which caches and pools get as large as they stay.
    private func judge(_ states: [State]) throws {
        let (early, last) = (states[1], states[states.count - 1])
        let growth = last.memory - early.memory
        let descriptors = last.descriptors - early.descriptors
        print("\nMore than after the first step: \(megabytes(growth)), \(descriptors) descriptors")
        guard growth <= Self.growthAllowed, last.descriptors <= early.descriptors else {
            throw BenchmarkError("keychaind has grown")
        }
    }

    private func callTogether(_ daemon: DaemonProcess, _ count: Int, _ step: Int) throws {
        let results = Mutex<[Result<Void, any Error>]>([])
        let group = DispatchGroup()
        for number in 0..<clients {
            let client = SoakClient(socket: daemon.socket, items: items, number: step * clients + number)
            group.enter()
            Thread {
                let result = Result { try client.call(count) }
                results.withLock { $0.append(result) }
                group.leave()
            }.start()
        }
        group.wait()
        try results.withLock { for result in $0 { try result.get() } }
    }
}

/// Of a hundred calls, ninety-six look one secret up, one gets every item, and three add an item, change and delete it.
private struct SoakClient: Sendable {
    let socket: URL
    let items: Int
    let number: Int

    private static let callsPerConnection = 1000

    func call(_ count: Int) throws {
        var random = RandomNumbers(stream: number)
        var connection = DaemonProcess.connection(to: socket)
        for call in 0..<count {
            if call % Self.callsPerConnection == Self.callsPerConnection - 1 {
                connection = DaemonProcess.connection(to: socket)
            }
            let own = SampleItem.added(number * 1_000_000 + call / 100)
            switch call % 100 {
            case 10: _ = try connection.perform(own.addRequest)
            case 20: _ = try connection.perform(own.updateRequest)
            case 30: _ = try connection.perform(own.deleteRequest)
            case 40: try connection.perform(SampleItem.stored(0, of: items).findServiceRequest).requireSecrets(items)
            default:
                let item = SampleItem.stored(random.number(below: items), of: items)
                try connection.perform(item.findRequest).requireSecrets(1)
            }
        }
    }
}
