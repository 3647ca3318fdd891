internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// One value of a variable in a file of git's. The command edits the text, and git tells its meaning. An edit with
/// another meaning than it should have is not made.
package struct GitValue: Codable, Equatable {
    /// The name, such as "credential.helper".
    let variable: String
    let value: String

    private var section: String { String(variable.prefix { $0 != "." }) }
    private var key: String { String(variable.drop { $0 != "." }.dropFirst()) }

    var line: String { "\(variable) = \(value)" }

    /// Adds a section of its own at the end.
    ///
    /// - Throws: here and below, ``SetupFailure`` with the end of a sentence that begins with the file.
    func applied(to content: Data) throws -> Data {
        let before = try GitEntry.all(in: content)
        let text = value.contains(where: { "#;".contains($0) }) ? "\"\(value)\"" : value
        let isEnded = content.isEmpty || Self.endsLine(content)
        let lead = (isEnded ? "" : "\n") + (Self.goesOn(content) ? "\n" : "")
        // A last line without an end stays one without, so that the former content can be told.
        let end = isEnded ? "\n" : ""
        let new = content + Data("\(lead)[\(section)]\n\t\(key) = \(text)\(end)".utf8)
        guard try GitEntry.all(in: new) == before + [GitEntry(key: variable, value: value)] else {
            throw SetupFailure(message: "ends in a way that git takes no further setting after")
        }
        return new
    }

    /// Takes the last such value out, with its line. A section with nothing else in it goes too.
    ///
    /// - Returns: nil: the file has no such value.
    func takenBack(from content: Data) throws -> Data? {
        var entries = try GitEntry.all(in: content)
        guard let place = entries.lastIndex(of: GitEntry(key: variable, value: value)) else {
            guard !entries.contains(where: { $0.key == variable && Self.isOurs($0.value ?? "") }) else {
                throw SetupFailure(
                    message: "was changed since, and sets \(variable) in another way than this command did")
            }
            return nil
        }
        entries.remove(at: place)
        let lines = TextLines(content)
        for number in lines.ranges.indices.reversed() where lines.text(number).lowercased().contains(key) {
            for range in ranges(number, lines, content) {
                let rest = content[..<range.lowerBound] + content[range.upperBound...]
                if (try? GitEntry.all(in: Data(rest))) == entries { return Data(rest) }
            }
        }
        throw SetupFailure(message: "was changed since, and sets \(variable) in a line that has more in it")
    }

    /// The bytes that may go with a line: all that ``applied(to:)`` adds with it, and then less.
    private func ranges(_ number: Int, _ lines: TextLines, _ content: Data) -> [Range<Int>] {
        let line = lines.ranges[number]
        let isLast = !lines.ranges.indices.contains(number + 1) || lines.text(number + 1).hasPrefix("[")
        guard number > 0, isLast, lines.text(number - 1) == "[\(section)]" else { return [line] }
        let start = lines.ranges[number - 1].lowerBound
        var rest = content[..<start]
        if Self.goesOn(rest) && Self.endsLine(rest) { rest = rest.dropLast() }
        if !Self.endsLine(content[line]) && Self.endsLine(rest) { rest = rest.dropLast() }
        return [rest.endIndex..<line.upperBound, start..<line.upperBound]
    }

    private static func endsLine(_ content: Data) -> Bool { content.last == UInt8(ascii: "\n") }

    /// Whether a backslash at the end of the last line would join the next one to it.
    private static func goesOn(_ content: Data) -> Bool {
        content.reversed().drop { $0 == 0x0a || $0 == 0x0d }.first == UInt8(ascii: "\\")
    }

    /// Whether a value of credential.helper means this project's helper.
    static func isOurs(_ value: String) -> Bool {
        let command = value.hasPrefix("!") ? value.dropFirst() : value[...]
        let program = command.split(separator: " ").first.map { FilePath.name(of: String($0)) }
        return program == "keychain" || program == helper
    }

    static let helper = "git-credential-keychain"
}

/// The lines of bytes, which need not be text.
private struct TextLines {
    private let content: Data
    let ranges: [Range<Int>]

    init(_ content: Data) {
        self.content = content
        var ranges: [Range<Int>] = []
        var start = content.startIndex
        while start < content.endIndex {
            let end = content[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? content.endIndex
            ranges.append(start..<end)
            start = end
        }
        self.ranges = ranges
    }

    /// A line without space at both ends.
    func text(_ number: Int) -> String {
        String(decoding: content[ranges[number]], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

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
