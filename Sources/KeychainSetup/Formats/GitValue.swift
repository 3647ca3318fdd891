internal import FoundationEssentials
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
        let lines = Self.lines(content)
        for number in lines.indices.reversed() where Self.text(lines[number]).lowercased().contains(key) {
            for range in ranges(number, lines, content) {
                let rest = content[..<range.lowerBound] + content[range.upperBound...]
                if (try? GitEntry.all(in: Data(rest))) == entries { return Data(rest) }
            }
        }
        throw SetupFailure(message: "was changed since, and sets \(variable) in a line that has more in it")
    }

    /// The bytes that may go with a line: all that ``applied(to:)`` adds with it, and then less.
    private func ranges(_ number: Int, _ lines: [Data], _ content: Data) -> [Range<Int>] {
        let line = lines[number]
        let isLast = number + 1 == lines.count || Self.text(lines[number + 1]).hasPrefix("[")
        guard number > 0, isLast, Self.text(lines[number - 1]) == "[\(section)]" else { return [line.indices] }
        let start = lines[number - 1].startIndex
        var rest = content[..<start]
        if Self.goesOn(rest) && Self.endsLine(rest) { rest = rest.dropLast() }
        if !Self.endsLine(line) && Self.endsLine(rest) { rest = rest.dropLast() }
        return [rest.endIndex..<line.endIndex, start..<line.endIndex]
    }

    /// The lines with their ends. Their bytes need not be text.
    private static func lines(_ content: Data) -> [Data] {
        content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).compactMap { line in
            let end = min(line.endIndex + 1, content.endIndex)
            return line.startIndex == end ? nil : content[line.startIndex..<end]
        }
    }

    /// A line without space at both ends.
    private static func text(_ line: Data) -> String {
        String(decoding: line, as: UTF8.self).trimming(while: \.isWhitespace)
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
