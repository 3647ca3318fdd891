import Foundation

/// Another process that works on a store: the executable KeychainTestAgent, built beside the tests.
struct AgentProcess {
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: String...) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    private static var executable: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("KeychainTestAgent")
    }

    /// Waits for the end; the lines it wrote, and how it ended.
    func finish() throws -> (lines: [String], status: Int32) {
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init), process.terminationStatus
        )
    }

    /// Kills it without warning as soon as it has written so many bytes; the whole lines it wrote.
    func killAfter(bytes limit: Int) throws -> [String] {
        var bytes = Data()
        while bytes.count < limit, let more = try output.fileHandleForReading.read(upToCount: 1) { bytes += more }
        kill(process.processIdentifier, SIGKILL)
        bytes += try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        let whole = text.prefix(through: text.lastIndex(of: "\n") ?? text.startIndex)
        return whole.split(separator: "\n").map(String.init)
    }
}
