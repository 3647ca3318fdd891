internal import ArgumentParser
internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import SwiftKeychain
internal import Synchronization

/// Run by the benchmark itself: clients of a daemon, a thread and a connection each. Speaks as `client load` does (Floor/client.c).
struct LoadCommand: ParsableCommand {
    enum Work: String, ExpressibleByArgument, CaseIterable {
        case lookUp = "look-up"
        case add
    }

    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Keep a daemon busy when told to.", shouldDisplay: false)

    @Argument(help: "What to ask for.")
    var work: Work

    @Option(help: "The daemon's socket.")
    var socket: String

    @Option(help: "Items in the store.")
    var items: Int

    @Option(help: "Clients.")
    var clients: Int

    @Option(help: "The number of this process among those that run together.")
    var place: Int

    func run() throws {
        let clients = try (0..<clients).map { number in
            try LoadClient(work, socket: URL(fileURLWithPath: socket), items: items, number: place * 1000 + number)
        }
        say("ready")
        while let line = readLine() {
            guard line.hasPrefix("go "), let seconds = Double(line.dropFirst(3)) else {
                throw BenchmarkError("not a command: \(line)")
            }
            say("done \(try LoadClient.runTogether(clients, for: seconds))")
        }
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

/// One client of many. Does as much as it can until it is told to stop.
final class LoadClient: Sendable {
    private struct State {
        var random: RandomNumbers
        var added = 0
    }

    private let work: LoadCommand.Work
    private let connection: Connection
    private let items: Int
    private let number: Int
    private let state: Mutex<State>

    /// Connects.
    init(_ work: LoadCommand.Work, socket: URL, items: Int, number: Int) throws {
        self.work = work
        self.items = items
        self.number = number
        connection = DaemonProcess.connection(to: socket)
        state = Mutex(State(random: RandomNumbers(stream: number)))
        try connection.perform(SampleItem.stored(0, of: items).findRequest).requireSecrets(1)
    }

    /// - Returns: how many calls all of them had answered.
    static func runTogether(_ clients: [LoadClient], for seconds: Double) throws -> Int {
        let end = Stopwatch.now + seconds * 1e6
        let results = Mutex<[Result<Int, any Error>]>([])
        let group = DispatchGroup()
        for client in clients {
            group.enter()
            Thread {
                let result = Result { try client.run(until: end) }
                results.withLock { $0.append(result) }
                group.leave()
            }.start()
        }
        group.wait()
        return try results.withLock { try $0.reduce(0) { try $0 + $1.get() } }
    }

    private func run(until end: Double) throws -> Int {
        try state.withLock { state in
            var count = 0
            while Stopwatch.now < end {
                try call(&state)
                count += 1
            }
            return count
        }
    }

    private func call(_ state: inout State) throws {
        switch work {
        case .lookUp:
            let item = SampleItem.stored(state.random.number(below: items), of: items)
            try connection.perform(item.findRequest).requireSecrets(1)
        case .add:
            _ = try connection.perform(SampleItem.added(number * 1_000_000 + state.added).addRequest)
            state.added += 1
        }
    }
}
