internal import Foundation
internal import Glibc

/// One value of a variable in a file of git's, which git itself reads and writes.
struct GitValue: Codable, Equatable {
    /// "credential.helper".
    let variable: String
    let value: String

    var line: String { "\(variable) = \(value)" }

    func applied(to content: Data, _ scratch: URL) throws -> Data {
        let (status, new) = try changed(content, scratch, "--add", variable, value)
        guard status == 0 else { throw ToolFailure(message: "git could not change a copy of the file (\(status))") }
        return new
    }

    func takenBack(from content: Data, _ scratch: URL) throws -> Data? {
        let (status, rest) = try changed(content, scratch, "--fixed-value", "--unset-all", variable, value)
        switch status {
        case 0: return rest
        // git-config(1): there is none.
        case 5: return nil
        default: throw ToolFailure(message: "is not understood by git")
        }
    }

    /// The values of a variable in a file, in their order.
    static func all(_ variable: String, in path: String) throws -> [String] {
        let (status, output) = try run(["config", "--file", path, "--get-all", variable])
        // 1: there is none.
        guard status == 0 || status == 1 else { throw ToolFailure(message: "git does not understand \(path)") }
        return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// What git makes of a copy.
    private func changed(_ content: Data, _ scratch: URL, _ words: String...) throws -> (status: Int32, Data) {
        let copy = scratch.appendingPathComponent("git-config")
        // One of a command that was killed; git locks a file by another one.
        let leftovers = [copy.path, copy.path + ".lock"]
        for path in leftovers { unlink(path) }
        defer { for path in leftovers { unlink(path) } }
        try content.write(to: copy)
        let (status, _) = try Self.run(["config", "--file", copy.path] + words)
        return (status, try Data(contentsOf: copy))
    }

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        guard let program = SetupSurroundings().program("git") else {
            throw ToolFailure(message: "there is no git in the PATH")
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        // Its lines are not ours, and the status says enough.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
