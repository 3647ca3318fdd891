/// Text from outside in a form that can only be read: an attribute must not be able to move the cursor,
/// set the window's title or turn the writing direction round.
enum TerminalText {
    /// Control and invisible formatting characters as `\u{…}`, and the backslash doubled so that the result
    /// says exactly what was there.
    static func escape(_ text: String, keepingLines: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if keepingLines, scalar == "\n" {
                result.unicodeScalars.append(scalar)
            } else if isHidden(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else if scalar == "\\", !keepingLines {
                result += "\\\\"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a character is an order to the terminal rather than something to see.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
