extension StringProtocol {
    /// The text without such scalars at both ends. A mark that stands on a space is not one of them, and stays.
    package func trimming(while isTrimmed: (Unicode.Scalar) -> Bool) -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isTrimmed($0) }),
            let last = scalars.lastIndex(where: { !isTrimmed($0) })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }
}

extension Unicode.Scalar {
    package var isWhitespace: Bool { properties.isWhitespace || self == "\u{200b}" }
    /// Line feeds, carriage returns and the others that end a line (UAX #14, class BK and those of its newline function).
    package var isNewline: Bool { "\n\r\u{0b}\u{0c}\u{85}\u{2028}\u{2029}".unicodeScalars.contains(self) }
}
