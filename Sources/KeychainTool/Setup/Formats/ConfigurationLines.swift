/// The lines of a file with sections, `[name]`, and `key = value`: INI, and the plain part of TOML.
struct ConfigurationLines {
    struct Line {
        /// In bytes, of the line's start.
        var offset: Int
        /// With its end.
        var text: Substring
        /// The section that it is in; "": before the first.
        var section: String
        var isHeader: Bool

        /// Without its end and without space around it.
        var trimmed: Substring { text.trimmed }
    }

    let lines: [Line]
    private let count: Int
    private let endsLine: Bool

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
        endsLine = text.utf8.last.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    /// nil: the line is no `[name]`.
    private static func header(_ line: Substring) -> String? {
        let code = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0].trimmed
        guard code.hasPrefix("["), code.hasSuffix("]"), code.count > 2 else { return nil }
        let name = code.dropFirst().dropLast().trimmed
        return name.contains(where: { "[]\"',".contains($0) }) ? nil : String(name)
    }

    /// The lines that give a key a value, or that look as if they did, comments apart.
    func lines(with key: String) -> [Line] {
        lines.filter { line in !"#;".contains(line.trimmed.first ?? "#") && line.text.contains(key) }
    }

    /// One more line in a section, right behind its header; with its header at the end of the text if there is none.
    func adding(_ line: String, to section: String) -> TextEdit {
        if section.isEmpty { return TextEdit(offset: 0, inserting: line + "\n") }
        guard let header = lines.last(where: { $0.isHeader && $0.section == section }) else {
            let start = (endsLine ? "" : "\n") + (count == 0 ? "" : "\n")
            return TextEdit(offset: count, inserting: "\(start)[\(section)]\n\(line)\n")
        }
        let isEnded = header.text.utf8.last == UInt8(ascii: "\n")
        return TextEdit(
            offset: header.offset + header.text.utf8.count, inserting: isEnded ? line + "\n" : "\n" + line)
    }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        let isSpace = { (character: Character) in character.isWhitespace }
        guard let end = lastIndex(where: { !isSpace($0) }) else { return self[startIndex..<startIndex] }
        return self[...end].drop(while: isSpace)
    }
}
