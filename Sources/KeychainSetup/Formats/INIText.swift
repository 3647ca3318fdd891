internal import KeychainSystem

/// The options of a file as Python's configparser, and so pip, reads them. A value goes on in the lines that are
/// indented further than its option, with empty lines and comments between them.
struct INIText {
    struct Option: Equatable {
        let section: String
        /// The key in small letters.
        let key: String
        fileprivate(set) var value: String
    }

    private(set) var options: [Option] = []
    /// The space before the first option of each section.
    private(set) var indents: [String: String] = [:]
    private var sections: Set<String> = []

    /// - Throws: ``SetupFailure``, with the end of a sentence that begins with the file, if configparser does not read
    ///   the text.
    init(_ text: String) throws {
        var reading = Reading()
        for (number, line) in ConfigurationLines(text).lines.enumerated() {
            let flaw = SetupFailure(message: "is no file that pip reads, because of line \(number + 1): mend it first")
            // Python ends a line at a carriage return too, and takes other such characters for space.
            if line.content.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" }) { throw flaw }
            let code = "#;".contains(line.trimmed.first ?? "#") ? "" : line.trimmed
            if code.isEmpty {
                // An empty line within a value is a part of the value, and a comment is not.
                if line.trimmed.isEmpty && reading.isInOption { options[options.count - 1].value += "\n" }
                continue
            }
            let indent = line.text.unicodeScalars.prefix { $0.properties.isWhitespace }
            if reading.isInOption && indent.count > reading.indent {
                options[options.count - 1].value += "\n" + code
                continue
            }
            reading.indent = indent.count
            guard take(code, String(indent), &reading) else { throw flaw }
        }
        for place in options.indices {
            options[place].value = String(options[place].value.reversed().drop { $0.isWhitespace }.reversed())
        }
    }

    private struct Reading {
        /// nil: the place is before the first section.
        var section: String?
        var isInOption = false
        /// The indent of the present option or header.
        var indent = 0
    }

    /// - Returns: false: the line is neither a header nor an option, or it is the second one of its name.
    private mutating func take(_ code: Substring, _ indent: String, _ reading: inout Reading) -> Bool {
        if code.hasPrefix("["), let end = code.lastIndex(of: "]"), code.index(after: code.startIndex) < end {
            let name = String(code[code.index(after: code.startIndex)..<end])
            (reading.section, reading.isInOption) = (name, false)
            return sections.insert(name).inserted || name == "DEFAULT"
        }
        guard let section = reading.section, let end = code.firstIndex(where: { "=:".contains($0) }) else {
            return false
        }
        let key = code[..<end].lowercased().trimming(while: \.isWhitespace)
        guard !key.isEmpty, !options.contains(where: { $0.section == section && $0.key == key }) else { return false }
        let value = code[code.index(after: end)...].trimming(while: \.isWhitespace)
        options.append(Option(section: section, key: key, value: value))
        indents[section] = indents[section] ?? indent
        reading.isInOption = true
        return true
    }

    /// The value of an option in one line.
    static func value(of line: String) -> String? {
        (try? INIText("[s]\n" + line.drop { $0.isWhitespace }))?.options.first?.value
    }

    /// Whether two files have the same options but one, which this file has with `value`; nil: which it has not.
    func isSame(as other: INIText, but key: String, in section: String, with value: String?) -> Bool {
        let isMeant = { (option: Option) in option.section == section && option.key == key }
        return options.filter { !isMeant($0) } == other.options.filter { !isMeant($0) }
            && options.first(where: isMeant)?.value == value
    }
}
