internal import CKeychainLinux
internal import KeychainModel

extension TerminalText {
    /// The columns of a terminal that a text takes: two for most characters of East Asia, none for an accent.
    static func columns(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + Int(ckeychain_columns($1.value)) }
    }

    static func prefix(_ text: String, columns limit: Int) -> String {
        var rest = text[...]
        while columns(rest) > limit { rest.removeLast() }
        return String(rest)
    }

    /// Breaks a text into lines between words. A word that does not fit in a line has one for itself.
    ///
    /// - Parameters:
    ///   - start: The beginning of the first line, before the text.
    ///   - indent: The columns that the other lines leave free.
    static func fold(_ text: String, after start: String = "", indent: Int, width: Int) -> String {
        var lines: [String] = []
        var line = start
        var isEmpty = true
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !isEmpty && columns(line) + 1 + columns(word) > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
