import Foundation

/// A run of the executable KeychainFaultProbe, built beside the tests.
struct FaultProbe {
    let status: Int32
    let lines: [String]

    static func run(_ arguments: String...) throws -> FaultProbe {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("KeychainFaultProbe")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return FaultProbe(status: process.terminationStatus, lines: lines)
    }

    /// Each begins with the command that repeats it.
    var failures: [String] { lines.filter { $0.hasPrefix("FAILED") } }

    /// Over all lines that have a figure of this name.
    func sum(_ name: String) -> Int {
        var sum = 0
        for line in lines where !line.hasPrefix("FAILED") {
            for word in line.split(separator: " ") where word.hasPrefix("\(name)=") {
                sum += Int(word.dropFirst(name.count + 1)) ?? 0
            }
        }
        return sum
    }
}
