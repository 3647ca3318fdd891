import Foundation
import Glibc

/// Another process that works on a store: the executable KeychainTestAgent, built beside the tests.
struct AgentProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(
        _ arguments: String..., usesKeyring: Bool = true, environment: [String: String] = [:], errors: URL? = nil
    ) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        let mark = usesKeyring ? [:] : ["KEYCHAIN_TEST_WITHOUT_KEYRING": "1"]
        process.environment = ProcessInfo.processInfo.environment.merging(mark) { $1 }.merging(environment) { $1 }
        // Functions are bound when they are first called, as in the programs of others.
        process.environment?["LD_BIND_NOW"] = nil
        if let errors { process.standardError = try FileHandle(forWritingTo: errors) }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var identifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// One line of what it writes.
    func readLine() throws -> String {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let first = byte.first {
            if first == UInt8(ascii: "\n") { break }
            line.append(first)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// One line to the command `serve`, and its answer.
    func ask(_ line: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        return try readLine()
    }

    /// Runs a command of the agent as another user, and returns how it ended. For root.
    static func status(asUser user: UInt32, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = executable
        process.arguments = ["as", "\(user)"] + arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends the command `serve`.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
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

    /// Kills it without warning, and waits until it is gone.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Kills it without warning as soon as it has written so many bytes; the whole lines it wrote.
    func killAfter(bytes limit: Int) throws -> [String] {
        var bytes = Data()
        while bytes.count < limit, let more = try output.fileHandleForReading.read(upToCount: 1) { bytes += more }
        Glibc.kill(process.processIdentifier, SIGKILL)
        bytes += try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: "\n") else { return [] }
        return text[..<end].split(separator: "\n").map(String.init)
    }
}
