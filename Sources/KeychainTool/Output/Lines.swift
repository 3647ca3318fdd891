internal import KeychainModel

/// A list of terms, each with a text that is folded to the width of a terminal.
struct Lines {
    private static let widest = 78
    /// The columns of the terms.
    private let indent: Int
    private(set) var text = ""

    init(indent: Int = 12) { self.indent = indent }

    /// - Parameter word: A word whose first occurrence has a colour on a terminal.
    mutating func add(_ term: String, _ content: String, emphasizing word: String? = nil) {
        let start = term + String(repeating: " ", count: max(1, indent - term.count))
        var lines = TerminalText.fold(
            TerminalText.escape(content), after: start, indent: indent,
            width: min(Self.widest, Console.outputWidth))
        if let word, Console.outputHasColors {
            let color = word == "damage" ? 31 : 33  // red, yellow
            lines = lines.replacing(word, with: "\u{1b}[\(color)m\(word)\u{1b}[m", maxReplacements: 1)
        }
        text += lines + "\n"
    }
}
