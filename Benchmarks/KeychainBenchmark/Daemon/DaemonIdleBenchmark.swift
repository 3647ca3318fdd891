internal import Foundation

/// A daemon that has answered and is asked for nothing more.
struct DaemonIdleBenchmark {
    let setup: DaemonSetup
    let seconds: Int

    private static let memoryGoal = 25_000_000.0
    /// What follows the last answer, such as emptying the log, may take so long.
    private static let settlingSeconds: UInt32 = 5

    func run() throws -> [Row] {
        let items = setup.layout.items
        let daemon = try setup.startDaemon()
        _ = try daemon.firstAnswer(to: SampleItem.stored(items / 2, of: items).findRequest)
        tell("watching an idle keychaind")
        sleep(Self.settlingSeconds)
        let before = try ProcessFigures.voluntarySwitches(of: daemon.processID)
        sleep(UInt32(seconds))
        let switches = try ProcessFigures.voluntarySwitches(of: daemon.processID) - before
        return [
            Row(
                work: "idle: wake-ups in \(seconds) seconds", items: items, unit: .count, floor: nil,
                engine: Figure(switches), measure: .value, goal: 0),
            Row(
                work: "idle: resident memory", items: items, unit: .bytes, floor: nil,
                engine: Figure(try ProcessFigures.resident(of: daemon.processID)), measure: .value,
                goal: Self.memoryGoal),
            Row(
                work: "… of which no part of a file", items: items, unit: .bytes, floor: nil,
                engine: Figure(try ProcessFigures.anonymousResident(of: daemon.processID)), measure: .value),
        ]
    }
}
