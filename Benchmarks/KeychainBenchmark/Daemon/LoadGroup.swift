/// Many clients, in several processes, which begin and end together.
struct LoadGroup {
    private let processes: [LineProcess]

    /// Starts them and waits until all are connected.
    init(_ program: String, _ arguments: [[String]]) throws {
        processes = try arguments.map { try LineProcess(program, $0) }
        for process in processes { _ = try process.numbers(after: "ready") }
    }

    /// How many calls a second they had answered, all together.
    func rate(seconds: Double) throws -> Double {
        for process in processes { try process.write("go \(seconds)") }
        return try processes.reduce(0) { try $0 + $1.numbers(after: "done").reduce(0, +) } / seconds
    }
}
