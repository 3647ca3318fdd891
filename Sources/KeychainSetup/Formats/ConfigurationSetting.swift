internal import Foundation

/// A line `key = value` in a section of a file (``ConfigurationLines``).
struct ConfigurationSetting: Codable, Equatable {
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
    /// made. nil: no.
    private let isINI: Bool?

    /// - Parameter replaced: The former line in the same place; nil: there is none.
    init(
        _ line: String, key: String, mark: String, in section: String, of lines: ConfigurationLines,
        replacing replaced: String?, isINI: Bool? = nil
    ) {
        self.isINI = isINI
        (self.line, self.key, self.mark, self.section, self.replaced) = (line, key, mark, section, replaced)
        makesSection = !section.isEmpty && lines.header(of: section) == nil
    }

    /// - Throws: here and below, ``SetupFailure`` with the end of a sentence that begins with the file.
    func applied(to content: Data) throws -> Data { try checked(edited(content), against: content, line) }

    private func edited(_ content: Data) throws -> Data {
        let lines = ConfigurationLines(try SetupFile.text(of: content))
        guard let replaced else { return lines.adding(line, to: section).applied(to: content) }
        guard let former = sole(lines.lines.filter { isInSection($0) && $0.content == replaced }) else {
            throw SetupFailure(message: "was changed by another program meanwhile")
        }
        return TextEdit(offset: former.offset, removing: former.content, inserting: line).applied(to: content)
    }

    func takenBack(from content: Data) throws -> Data? {
        try withoutLine(content).map { try checked($0, against: content, replaced) }
    }

    /// - Parameter line: The line that sets the key in `new`; nil: no line does.
    private func checked(_ new: Data, against content: Data, _ line: String?) throws -> Data {
        guard isINI == true else { return new }
        let (before, after) = (try INIText(SetupFile.text(of: content)), try INIText(SetupFile.text(of: new)))
        guard after.isSame(as: before, but: key, in: section, with: line.flatMap(INIText.value)) else {
            throw SetupFailure(message: "is written in a way that other values would change with \(key)")
        }
        return new
    }

    private func withoutLine(_ content: Data) throws -> Data? {
        let lines = ConfigurationLines(try SetupFile.text(of: content))
        let own = lines.lines.filter { isInSection($0) && Self.words($0.content) == Self.words(line[...]) }
        guard let own = sole(own) else {
            if !lines.hasCode(with: mark) { return nil }
            throw SetupFailure(message: "was changed since, and sets \(key) in another way than this command did")
        }
        if let replaced {
            return TextEdit(offset: own.offset, removing: own.content, inserting: replaced).applied(to: content)
        }
        let rest = TextEdit(offset: own.offset, removing: own.text, inserting: "").applied(to: content)
        return makesSection
            ? ConfigurationLines(String(decoding: rest, as: UTF8.self)).removingEmpty(section, rest) : rest
    }

    private func isInSection(_ line: ConfigurationLines.Line) -> Bool { !line.isHeader && line.section == section }

    private func sole(_ lines: [ConfigurationLines.Line]) -> ConfigurationLines.Line? {
        lines.count == 1 ? lines[0] : nil
    }

    /// The line without spaces: programs that rewrite the file may use other ones.
    private static func words(_ line: Substring) -> String { line.filter { $0 != " " && $0 != "\t" } }
}
