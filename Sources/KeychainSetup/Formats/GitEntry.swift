internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// A value of git's configuration, as git reads it.
struct GitEntry: Equatable {
    /// The key, with section and name in small letters.
    let key: String
    /// nil: the key has no value, which means true.
    let value: String?

    /// The entries of a file's content, in their order. The content may have passwords, so it reaches git only through
    /// memory.
    static func all(in content: Data) throws -> [GitEntry] {
        let memory = try MemoryFile(SecretBytes(copying: content), for: .reading)
        defer { memory.release() }
        let (status, output) = try Git.run(
            ["config", "--file", "-", "--no-includes", "--list", "-z"], input: memory.handle)
        guard status == 0 else { throw SetupFailure(message: "is not understood by git") }
        return output.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map { GitEntry($0) }
    }

    init(key: String, value: String?) { (self.key, self.value) = (key, value) }

    /// The entry in a text "KEY\nVALUE", which git prints with -z.
    init(_ text: Substring) {
        let end = text.firstIndex(of: "\n")
        key = String(text[..<(end ?? text.endIndex)])
        value = end.map { String(text[text.index(after: $0)...]) }
    }
}

enum Git {
    static func run(
        _ arguments: [String], input: FileHandle = .nullDevice
    ) throws -> (status: Int32, output: String) {
        guard let program = SetupSurroundings().program("git") else {
            throw SetupFailure(message: "there is no git in the PATH")
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (input, output)
        // The status says enough, and git's lines have another form than this command's.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
