/// A list of terms, each with a text that is folded to the width of a terminal.
struct Lines {
    private static let indent = 12
    private static let width = 78
    private(set) var text = ""

    mutating func add(_ term: String, _ content: String) {
        let words = TerminalText.escape(content).split(separator: " ", omittingEmptySubsequences: false)
        var line = term + String(repeating: " ", count: max(1, Self.indent - term.count))
        var isEmpty = true
        for word in words {
            if !isEmpty && line.count + 1 + word.count > Self.width {
                text += line + "\n"
                line = String(repeating: " ", count: Self.indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        text += line + "\n"
    }
}
