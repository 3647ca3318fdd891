internal import Foundation

/// `floor serve`, asked for one batch at a time.
struct FloorProcess {
    private let process: LineProcess

    init(program: String, store: URL) throws { process = try LineProcess(program, ["serve", store.path]) }

    /// The duration of every single run of `work`, in microseconds.
    func samples(of work: String, count: Int) throws -> [Double] {
        try process.samples(of: work, count: count)
    }

    /// Empties the floor's log.
    ///
    /// - Returns: All bytes it has written since it was started.
    func checkpoint() throws -> Double {
        try process.write("checkpoint")
        guard let bytes = try process.numbers(after: "checkpoint").first else {
            throw BenchmarkError("the floor gave no number of bytes")
        }
        return bytes
    }

    /// Removes what was added.
    func forget() throws {
        try process.write("forget")
        _ = try process.numbers(after: "forget")
    }
}

extension LineProcess {
    /// The duration of every single run of `work`, in microseconds.
    func samples(of work: String, count: Int) throws -> [Double] {
        try write("\(work) \(count)")
        let values = try numbers(after: work)
        guard values.count == count else {
            throw BenchmarkError("\(values.count) of \(count) samples of \(work) came")
        }
        return values
    }
}
