internal import Foundation

/// A program that is asked in lines and answers each with one. It ends when its input does, or is told to.
final class LineProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()
    private let name: String

    init(_ program: String, _ arguments: [String]) throws {
        name = URL(fileURLWithPath: program).lastPathComponent
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
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

    func write(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Takes an answer that begins with `word`.
    ///
    /// - Returns: the numbers behind it.
    func numbers(after word: String) throws -> [Double] {
        let words = try line().split(separator: " ")
        guard let first = words.first, first == word else {
            throw BenchmarkError("\(name) did not answer with \"\(word)\"")
        }
        return try words.dropFirst().map { word in
            guard let value = Double(word) else { throw BenchmarkError("\"\(word)\" from \(name) is not a number") }
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
            guard !more.isEmpty else { throw BenchmarkError("\(name) ended before its answer") }
            received.append(more)
        }
    }
}
