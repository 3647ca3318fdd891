internal import Foundation

/// The lines of a file with sections, `[name]`, and `key = value`: INI, and the plain part of TOML.
struct ConfigurationLines {
    struct Line {
        /// The line's start, in bytes.
        var offset: Int
        /// The line with its end.
        var text: Substring
        /// The section of the line; "": the line is before the first section.
        var section: String
        var isHeader: Bool

        /// The line without its end and the space around it.
        var trimmed: Substring { text.trimmed }

        /// The line without its end.
        var content: Substring { text.last?.isNewline == true ? text.dropLast() : text }

        var indent: String { String(text.prefix { " \t".contains($0) }) }

        func sets(_ key: String) -> Bool {
            trimmed.hasPrefix(key) && trimmed.dropFirst(key.count).first.map { " \t=:".contains($0) } ?? false
        }
    }

    let lines: [Line]
    private let count: Int
    private let endsLine: Bool
    /// The end of the first line, for new lines.
    private let lineEnd: String

    init(_ text: String) {
        var lines: [Line] = []
        var (offset, section) = (0, "")
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")).map { rest.utf8.index(after: $0) } ?? rest.endIndex
            let line = rest[..<end]
            let header = Self.header(line.trimmed)
            if let header { section = header }
            lines.append(Line(offset: offset, text: line, section: section, isHeader: header != nil))
            offset += line.utf8.count
            rest = rest[end...]
        }
        (self.lines, count) = (lines, offset)
        lineEnd = text.first(where: \.isNewline) == "\r\n" ? "\r\n" : "\n"
        endsLine = text.utf8.last.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    /// nil: the line is no `[name]`.
    private static func header(_ line: Substring) -> String? {
        let code = line.prefix { $0 != "#" && $0 != ";" }.trimmed
        guard code.hasPrefix("["), code.hasSuffix("]"), code.count > 2 else { return nil }
        let name = code.dropFirst().dropLast().trimmed
        return name.contains(where: { "[]\"',".contains($0) }) ? nil : String(name)
    }

    /// The lines that give a key a value, or may do so. Comments are left out.
    func lines(with key: String) -> [Line] {
        lines.filter { line in
            !line.isHeader && !"#;".contains(line.trimmed.first ?? "#") && line.text.lowercased().contains(key)
        }
    }

    /// Whether a text stands outside of comments.
    func hasCode(with text: String) -> Bool {
        lines.contains { !"#;".contains($0.trimmed.first ?? "#") && $0.text.contains(text) }
    }

    /// nil: the file has no such section.
    func header(of section: String) -> Line? { lines.last { $0.isHeader && $0.section == section } }

    /// Whether a line may be the section's header in a form that this type does not read.
    func mayHaveOther(_ section: String) -> Bool {
        lines.contains { !$0.isHeader && $0.trimmed.hasPrefix("[") && $0.text.contains(section) }
    }

    /// Adds a line to a section, right behind its header. A section that is missing is added at the end of the text.
    func adding(_ line: String, to section: String) -> TextEdit {
        if section.isEmpty { return TextEdit(offset: 0, inserting: line + lineEnd) }
        guard let header = header(of: section) else {
            let start = (endsLine ? "" : lineEnd) + (count == 0 ? "" : lineEnd)
            return TextEdit(offset: count, inserting: "\(start)[\(section)]\(lineEnd)\(line)\(lineEnd)")
        }
        let isEnded = header.text.last?.isNewline == true
        return TextEdit(
            offset: header.offset + header.text.utf8.count, inserting: isEnded ? line + lineEnd : lineEnd + line)
    }

    /// The text without an empty section, and without one empty line before it.
    func removingEmpty(_ section: String, _ text: Data) -> Data {
        guard let start = lines.lastIndex(where: { $0.isHeader && $0.section == section }),
            lines[start].trimmed == "[\(section)]",
            lines.filter({ $0.section == section && !$0.isHeader }).allSatisfy({ $0.trimmed.isEmpty })
        else { return text }
        let gap = start > 0 && lines[start - 1].trimmed.isEmpty ? lines[start - 1].text : ""
        let header = lines[start]
        return TextEdit(
            offset: header.offset - gap.utf8.count, removing: (gap + header.text)[...], inserting: ""
        ).applied(to: text)
    }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        let isSpace = { (character: Character) in character.isWhitespace }
        guard let end = lastIndex(where: { !isSpace($0) }) else { return self[startIndex..<startIndex] }
        return self[...end].drop(while: isSpace)
    }
}
