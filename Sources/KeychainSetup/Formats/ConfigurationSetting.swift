internal import FoundationEssentials

/// A line `key = value` in a section of a file (``ConfigurationLines``).
package struct ConfigurationSetting: Codable, Equatable {
    /// The section; "": the line is before the first section.
    let section: String
    let key: String
    let line: String
    /// The part that marks the line as this command's, even if another program has rewritten the line.
    let mark: String
    /// The former line in the same place.
    let replaced: String?
    /// Whether the file had no such section.
    let makesSection: Bool
    /// Whether Python's configparser reads the file. Then an edit that it would read as more than this setting is not
    /// made.
    private let isINI: Bool

    /// - Parameter replaced: The former line in the same place; nil: there is none.
    init(
        _ line: String, key: String, mark: String, in section: String, of lines: ConfigurationLines,
        replacing replaced: String?, isINI: Bool = false
    ) {
        self.isINI = isINI
        (self.line, self.key, self.mark, self.section, self.replaced) = (line, key, mark, section, replaced)
        makesSection = !section.isEmpty && lines.header(of: section) == nil
    }

    /// - Throws: here and below, ``SetupFailure`` with the end of a sentence that begins with the file.
    func applied(to content: Data) throws -> Data {
        let text = try SetupFile.text(of: content)
        let lines = ConfigurationLines(text)
        guard let replaced else { return try checked(lines.adding(line, to: section), against: text, line) }
        guard let place = lines.place(in: section, where: { $0 == replaced }) else {
            throw SetupFailure(message: "was changed by another program meanwhile")
        }
        return try checked(lines.replacing(place, with: line), against: text, line)
    }

    /// - Returns: nil: the file has no such line.
    func takenBack(from content: Data) throws -> Data? {
        let text = try SetupFile.text(of: content)
        let lines = ConfigurationLines(text)
        guard let place = lines.place(in: section, where: { Self.words($0) == Self.words(line[...]) }) else {
            if !lines.hasCode(with: mark) { return nil }
            throw SetupFailure(message: "was changed since, and sets \(key) in another way than this command did")
        }
        if let replaced { return try checked(lines.replacing(place, with: replaced), against: text, replaced) }
        let rest = lines.removing(place...place)
        return try checked(makesSection ? ConfigurationLines(rest).removingEmpty(section) : rest, against: text, nil)
    }

    /// - Parameter line: The line that sets the key in `new`; nil: no line does.
    private func checked(_ new: String, against text: String, _ line: String?) throws -> Data {
        // The changed text may be none that can be read at all.
        if isINI,
            try (try? INIText(new))?.isSame(as: INIText(text), but: key, in: section, with: line.flatMap(INIText.value))
                != true
        {
            throw SetupFailure(message: "is written in a way that other values would change with \(key)")
        }
        return Data(new.utf8)
    }

    /// The line without spaces: programs that rewrite the file may use other ones.
    private static func words(_ line: Substring) -> String { line.filter { $0 != " " && $0 != "\t" } }
}
