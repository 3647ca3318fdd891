/// From the start of the process to its first answer, with files that were read before.
struct DaemonStartBenchmark {
    let setup: DaemonSetup
    let count: Int

    private static let goal = 100_000.0

    func run() throws -> Row {
        let samples = try (0..<count).map { _ in try sample() }
        return Row(
            work: "start to first answer", items: setup.layout.items, unit: .microseconds, floor: nil,
            engine: Figure(samples: samples), measure: .value, goal: Self.goal)
    }

    private func sample() throws -> Double {
        let request = SampleItem.stored(setup.layout.items / 2, of: setup.layout.items).findRequest
        let timed = try Stopwatch.time {
            let daemon = try setup.startDaemon()
            return (daemon, try daemon.firstAnswer(to: request))
        }
        try timed.result.1.requireSecrets(1)
        return timed.microseconds
    }
}
