internal import Foundation

/// Many clients at once.
struct DaemonLoadBenchmark {
    let setup: DaemonSetup
    let rounds: Int
    let seconds: Double

    private static let rateEnough = 28_000.0
    private static let partOfFloor = 0.65

    private var items: Int { setup.layout.items }

    func run() throws -> [Row] {
        let daemon = try setup.startDaemon()
        let first = SampleItem.stored(0, of: items)
        let sizes = try FrameSizes(lookingUp: first, gave: try daemon.firstAnswer(to: first.findRequest))
        var rows = [try lookUps(daemon, try setup.startFloor(sizes))]
        rows.append(
            Row(
                work: "resident memory after 200 clients", items: items, unit: .bytes, floor: nil,
                engine: Figure(try ProcessFigures.resident(of: daemon.processID)), measure: .value))
        rows.append(try adds(daemon))
        return rows
    }

    private func lookUps(_ daemon: DaemonProcess, _ server: FloorServer) throws -> Row {
        let ours = try load(daemon, .lookUp, processes: 8, clients: 25)
        let floor = try server.load(processes: 8, clients: 25)
        let rates = try inTurn(ours, floor)
        return Row(
            work: "200 clients, look-ups (goal: 28,000 or 65 % of the floor)", items: items, unit: .callsPerSecond,
            floor: Figure(median: rates.other), engine: Figure(median: rates.first), measure: .value,
            goal: min(Self.rateEnough, Self.partOfFloor * Figure(median: rates.other).median))
    }

    private func adds(_ daemon: DaemonProcess) throws -> Row {
        let many = try load(daemon, .add, processes: 4, clients: 8)
        let one = try load(daemon, .add, processes: 1, clients: 1, from: 4)
        let rates = try inTurn(many, one)
        return Row(
            work: "durable adds of 32 clients, against one client (as floor)", items: items, unit: .callsPerSecond,
            floor: Figure(median: rates.other), engine: Figure(median: rates.first), measure: .ratio, goal: 4)
    }

    private func load(
        _ daemon: DaemonProcess, _ work: LoadCommand.Work, processes: Int, clients: Int, from first: Int = 0
    ) throws -> LoadGroup {
        try LoadGroup(
            "/proc/self/exe",
            (first..<first + processes).map { place in
                [
                    "load", work.rawValue, "--socket", daemon.socket.path, "--items", String(items), "--clients",
                    String(clients), "--place", String(place),
                ]
            })
    }

    /// The rates of two groups. The first round fills caches and is not counted.
    private func inTurn(_ first: LoadGroup, _ other: LoadGroup) throws -> (first: [Double], other: [Double]) {
        var rates: (first: [Double], other: [Double]) = ([], [])
        for round in 0...rounds {
            let ours = try first.rate(seconds: seconds)
            let theirs = try other.rate(seconds: seconds)
            if round == 0 { continue }
            rates.first.append(ours)
            rates.other.append(theirs)
        }
        return rates
    }
}
