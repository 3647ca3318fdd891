/// Text from outside in a form that can only be read. An attribute must not move the cursor, set the window's title,
/// turn the writing direction round or begin a line that looks like one of the program.
package enum TerminalText {
    /// The text with control and invisible formatting characters as `\u{…}`. The backslash is doubled, so that the
    /// result has one meaning.
    package static func escape(_ text: String) -> String {
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
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
