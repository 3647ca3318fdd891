/// The lines of a file with sections, `[name]`, and `key = value`: INI, and the plain part of TOML.
struct ConfigurationLines {
    struct Line {
        /// The line with its end.
        var text: Substring
        /// The section of the line; "": the line is before the first section.
        var section: String
        var isHeader: Bool

        /// The line without its end and the space around it.
        var trimmed: Substring { text.trimmed }

        /// The line without its end.
        var content: Substring { isEnded ? text.dropLast() : text }

        var isEnded: Bool { text.utf8.last == UInt8(ascii: "\n") }

        var indent: String { String(text.prefix { " \t".contains($0) }) }

        func sets(_ key: String) -> Bool {
            trimmed.hasPrefix(key) && trimmed.dropFirst(key.count).first.map { " \t=:".contains($0) } ?? false
        }
    }

    let lines: [Line]

    init(_ text: String) {
        var lines: [Line] = []
        var section = ""
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")).map { rest.utf8.index(after: $0) } ?? rest.endIndex
            let line = rest[..<end]
            let header = Self.header(line.trimmed)
            if let header { section = header }
            lines.append(Line(text: line, section: section, isHeader: header != nil))
            rest = rest[end...]
        }
        self.lines = lines
    }

    /// nil: the line is no `[name]`.
    private static func header(_ line: Substring) -> String? {
        let code = line.prefix { $0 != "#" && $0 != ";" }.trimmed
        guard code.hasPrefix("["), code.hasSuffix("]"), code.count > 2 else { return nil }
        let name = code.dropFirst().dropLast().trimmed
        return name.contains(where: { "[]\"',".contains($0) }) ? nil : String(name)
    }

    // MARK: Looking

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

    /// The place of a section's header; nil: there is no such section.
    func header(of section: String) -> Int? { lines.lastIndex { $0.isHeader && $0.section == section } }

    /// Whether a line may be the section's header in a form that this type does not read.
    func mayHaveOther(_ section: String) -> Bool {
        lines.contains { !$0.isHeader && $0.trimmed.hasPrefix("[") && $0.text.contains(section) }
    }

    /// The place of the sole line of a section for which `isMeant` holds; nil: there is none, or there are several.
    func place(in section: String, where isMeant: (Substring) -> Bool) -> Int? {
        let places = lines.indices.filter {
            !lines[$0].isHeader && lines[$0].section == section && isMeant(lines[$0].content)
        }
        return places.count == 1 ? places[0] : nil
    }

    // MARK: Changed texts

    private var lineEnd: String { lines.first?.text.last == "\r\n" ? "\r\n" : "\n" }

    private func text(_ range: Range<Int>) -> String { lines[range].map { String($0.text) }.joined() }

    /// The text with another line in the place of one.
    func replacing(_ place: Int, with content: String) -> String {
        let end = lines[place].text.dropFirst(lines[place].content.count)
        return text(0..<place) + content + end + text(place + 1..<lines.count)
    }

    /// The text with one more line in a section, right behind its header. A section that is missing is added at the end
    /// of the text. A last line without an end stays one without, so that ``removing(_:)`` gives the former text back.
    func adding(_ line: String, to section: String) -> String {
        let all = text(0..<lines.count)
        if section.isEmpty { return line + lineEnd + all }
        let isEnded = lines.last?.isEnded ?? true
        guard let place = header(of: section) else {
            let start = (isEnded ? "" : lineEnd) + (lines.isEmpty ? "" : lineEnd)
            return all + start + "[\(section)]" + lineEnd + line + (isEnded ? lineEnd : "")
        }
        if !lines[place].isEnded { return all + lineEnd + line }
        return text(0..<place + 1) + line + lineEnd + text(place + 1..<lines.count)
    }

    /// The text without some lines.
    func removing(_ range: ClosedRange<Int>) -> String {
        let rest = text(0..<range.lowerBound)
        if lines[range.upperBound].isEnded { return rest + text(range.upperBound + 1..<lines.count) }
        return String(rest.last.map { $0 == "\n" || $0 == "\r\n" } ?? false ? rest.dropLast() : rest[...])
    }

    /// The text without an empty section, and without one empty line before it.
    func removingEmpty(_ section: String) -> String {
        guard let place = header(of: section), lines[place].trimmed == "[\(section)]",
            lines.filter({ $0.section == section && !$0.isHeader }).allSatisfy({ $0.trimmed.isEmpty })
        else { return text(0..<lines.count) }
        let hasGap = place > 0 && lines[place - 1].trimmed.isEmpty
        return removing((hasGap ? place - 1 : place)...place)
    }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        let isSpace = { (character: Character) in character.isWhitespace }
        guard let end = lastIndex(where: { !isSpace($0) }) else { return self[startIndex..<startIndex] }
        return self[...end].drop(while: isSpace)
    }
}
