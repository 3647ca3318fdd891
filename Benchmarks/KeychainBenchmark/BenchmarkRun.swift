internal import Foundation

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Progress goes to standard error; standard output is the table alone.
func tell(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
}

enum BenchmarkRun {
    /// Runs a program to its end.
    ///
    /// - Parameter mayEndWith: A status that is no failure; the output is then nil.
    /// - Returns: What it wrote to standard output.
    static func program(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        mayEndWith allowed: Int32? = nil
    ) throws -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw BenchmarkError("\(program) cannot be started: \(error.localizedDescription)")
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus == allowed { return nil }
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("\(program) \(arguments.first ?? "") ended with status \(process.terminationStatus)")
        }
        return text
    }

    /// This program again, as a process of its own.
    static func ownProgram(_ arguments: [String]) throws -> String? {
        try program("/proc/self/exe", arguments)
    }
}
