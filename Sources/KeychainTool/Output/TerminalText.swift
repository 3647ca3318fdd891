internal import CKeychainLinux

/// Text from outside in a form that can only be read. An attribute must not move the cursor, set the window's title,
/// turn the writing direction round or begin a line that looks like one of this command.
enum TerminalText {
    /// The text with control and invisible formatting characters as `\u{…}`. The backslash is doubled, so that the
    /// result has one meaning.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else if scalar == "\\" {
                result += "\\\\"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a character is a command to the terminal, or invisible.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    // MARK: Widths

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
