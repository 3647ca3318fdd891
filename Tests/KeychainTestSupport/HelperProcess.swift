package import Foundation
internal import Glibc

/// Another process, of the executable KeychainTestHelper. The top of its KeychainTestHelper.swift says what it can do.
package struct HelperProcess {
    package static let executable = BuiltProducts.url(of: "KeychainTestHelper")

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameters:
    ///   - environment: Beside the variables of this process.
    ///   - errors: The file that its standard error goes to; nil: that of this process.
    package init(words: [String], environment: [String: String] = [:], errors: URL? = nil) throws {
        process.executableURL = Self.executable
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Functions are bound when they are first called, as in the programs of others.
        process.environment?["LD_BIND_NOW"] = nil
        if let errors { process.standardError = try FileHandle(forWritingTo: errors) }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    package var identifier: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }

    /// One line of what it writes; nil at the end.
    package func readLine() throws -> String? {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Sends it one line.
    package func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends its standard input.
    package func endInput() throws { try input.fileHandleForWriting.close() }

    /// Waits for the end; the lines it wrote, and how it ended.
    package func finish() throws -> (lines: [String], status: Int32) {
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init), process.terminationStatus
        )
    }

    /// Kills it without warning, and waits until it is gone.
    package func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Kills it without warning as soon as it has written so many bytes; the whole lines it wrote.
    package func killAfter(bytes limit: Int) throws -> [String] {
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
