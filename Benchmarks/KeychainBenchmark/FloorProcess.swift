internal import Foundation

/// `floor serve`, asked for one batch at a time.
final class FloorProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    init(program: String, store: URL) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["serve", store.path]
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw BenchmarkError("\(program) cannot be started: \(error.localizedDescription)")
        }
    }

    /// Closing the input is how it is told to end.
    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The duration of every single run of `work`, in microseconds.
    func samples(of work: String, count: Int) throws -> [Double] {
        let values = try ask("\(work) \(count)")
        guard values.count == count else { throw BenchmarkError("the floor gave \(values.count) of \(count) samples") }
        return values
    }

    /// Empties the floor's log.
    ///
    /// - Returns: All bytes it has written since it was started.
    func checkpoint() throws -> Double {
        guard let bytes = try ask("checkpoint").first else { throw BenchmarkError("the floor gave no number of bytes") }
        return bytes
    }

    /// Removes what was added.
    func forget() throws { _ = try ask("forget") }

    private func ask(_ command: String) throws -> [Double] {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        let words = try line().split(separator: " ")
        guard let name = words.first, command.hasPrefix(name) else {
            throw BenchmarkError("the floor did not answer \"\(command)\"")
        }
        return try words.dropFirst().map { word in
            guard let value = Double(word) else { throw BenchmarkError("\"\(word)\" from the floor is not a number") }
            return value
        }
    }

    private func line() throws -> String {
        let newline = UInt8(ascii: "\n")
        while true {
            if let end = received.firstIndex(of: newline) {
                defer { received = Data(received[(end + 1)...]) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("the floor ended before its answer") }
            received.append(more)
        }
    }
}
