internal import KeychainEngine
internal import KeychainModel

/// All keys of a store made anew, and every row brought under them.
struct RekeyBenchmark {
    let items: Int
    let engine: Engine

    private static let goal = 20_000.0
    /// Small stores are done several times, since one time says little.
    private static let mostRenewals = 9
    private static let rowsEnough = 300_000

    func run(_ passcodes: inout Passcodes) throws -> [Row] {
        var rates: [Double] = []
        var longest: [Double] = []
        for _ in 0..<max(1, min(Self.mostRenewals, Self.rowsEnough / items)) {
            let steps = try renew(&passcodes)
            rates.append(Double(items) / (steps.reduce(0, +) / 1e6))
            longest.append(steps.max() ?? 0)
        }
        return [
            Row(
                work: "renewal of all keys", items: items, unit: .rowsPerSecond, floor: nil,
                engine: Figure(Figure(samples: rates).median), measure: .value, goal: Self.goal),
            Row(
                work: "longest step of it, for which other writers wait", items: items, unit: .microseconds,
                floor: nil, engine: Figure(samples: longest), measure: .value),
        ]
    }

    /// - Returns: the time of each step, in microseconds.
    func renew(_ passcodes: inout Passcodes) throws -> [Double] {
        try engine.ask(.passcode(.change(old: passcodes.present, new: passcodes.next, rekey: true)))
        passcodes.advance()
        var steps: [Double] = []
        while true {
            let step = try Stopwatch.time { try engine.rekeyStep() }
            steps.append(step.microseconds)
            if !step.result.isFinished { continue }
            guard step.result.total == items else {
                throw BenchmarkError("\(step.result.total) of \(items) rows are under new keys")
            }
            return steps
        }
    }
}
