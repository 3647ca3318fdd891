internal import KeychainClient
internal import SwiftKeychain

/// One client that looks secrets up, random ones of all, in turn with one of a server in C that does the same work.
struct DaemonLookUpBenchmark {
    let setup: DaemonSetup
    let count: Int
    let batches: Int

    private var items: Int { setup.layout.items }

    func run() throws -> [Row] {
        let daemon = try setup.startDaemon()
        let first = SampleItem.stored(0, of: items)
        let reply = try daemon.firstAnswer(to: first.findRequest)
        let server = try setup.startFloor(try FrameSizes(lookingUp: first, gave: reply))
        let samples = try inTurn(daemon.connection(), try server.oneClient())
        let floor = Figure(samples: samples.floor)
        let ours = Figure(samples: samples.ours)
        return [
            Row(
                work: "look-up with secret, one client", items: items, unit: .microseconds, floor: floor, engine: ours,
                measure: .ratio, goal: 1.25),
            Row(
                work: "its 99th percentile against the floor's median", items: items, unit: .microseconds,
                floor: Figure(floor.median), engine: Figure(ours.percentile99 ?? .nan), measure: .ratio, goal: 5),
        ]
    }

    private func inTurn(_ connection: Connection, _ floor: LineProcess) throws -> (ours: [Double], floor: [Double]) {
        var random = RandomNumbers()
        var samples: (ours: [Double], floor: [Double]) = ([], [])
        // The first batch of each fills caches and is not counted.
        for batch in 0...batches {
            let ours = try (0..<count / batches).map { _ in
                let request = SampleItem.stored(random.number(below: items), of: items).findRequest
                let timed = try Stopwatch.time { try connection.perform(request) }
                try timed.result.requireSecrets(1)
                return timed.microseconds
            }
            let theirs = try floor.samples(of: "ask", count: count / batches)
            if batch == 0 { continue }
            samples.ours += ours
            samples.floor += theirs
        }
        return samples
    }
}
