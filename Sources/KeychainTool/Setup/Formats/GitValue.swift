internal import Foundation
internal import Glibc
internal import KeychainSystem

/// One value of a variable in a file of git's, which git itself reads and writes.
struct GitValue: Codable, Equatable {
    /// "credential.helper".
    let variable: String
    let value: String

    var line: String { "\(variable) = \(value)" }

    func applied(to content: Data, _ scratch: URL) throws -> Data {
        let (status, new) = try changed(content, scratch, "--add", variable, value)
        guard status == 0 else { throw ToolFailure(message: "could not be changed by git (\(status))") }
        return new
    }

    func takenBack(from content: Data, _ scratch: URL) throws -> Data? {
        let (status, rest) = try changed(content, scratch, "--fixed-value", "--unset-all", variable, value)
        switch status {
        case 0: return rest
        // git-config(1): there is none.
        case 5:
            guard try !hasOther(content, scratch) else {
                throw ToolFailure(
                    message: "was changed since, and sets \(variable) in another way than this command did")
            }
            return nil
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

    /// Whether another value names the helper too, with options for example.
    private func hasOther(_ content: Data, _ scratch: URL) throws -> Bool {
        try withCopy(content, scratch) { try Self.all(variable, in: $0.path).contains(where: Self.isOurs) }
    }

    /// Whether a value of credential.helper means our helper.
    static func isOurs(_ value: String) -> Bool {
        let command = value.hasPrefix("!") ? value.dropFirst() : value[...]
        let program = command.split(separator: " ").first.map { FilePath.name(of: String($0)) }
        return program == "keychain" || program == helper
    }

    static let helper = "git-credential-keychain"

    /// A copy of the content that git has changed.
    private func changed(_ content: Data, _ scratch: URL, _ words: String...) throws -> (status: Int32, Data) {
        try withCopy(content, scratch) { copy in
            let (status, _) = try Self.run(["config", "--file", copy.path] + words)
            return (status, try Data(contentsOf: copy))
        }
    }

    private static func copy(_ scratch: URL) -> URL { scratch.appendingPathComponent("git-config") }

    /// Removes the copy of a command that was killed, and git's own lock of it.
    static func removeLeftovers(_ scratch: URL) {
        for path in [copy(scratch).path, copy(scratch).path + ".lock"] { unlink(path) }
    }

    private func withCopy<R>(_ content: Data, _ scratch: URL, _ body: (URL) throws -> R) throws -> R {
        Self.removeLeftovers(scratch)
        defer { Self.removeLeftovers(scratch) }
        let copy = Self.copy(scratch)
        try content.write(to: copy)
        return try body(copy)
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
