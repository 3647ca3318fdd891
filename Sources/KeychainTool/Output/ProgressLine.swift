/// A line at the terminal that shows the progress of long work. Without a terminal there is no line.
final class ProgressLine {
    private static let width = 30

    private let title: String
    private var isOpen = false
    /// The length of the present text, without the blanks that cover a longer one.
    private var lastCount = 0

    init(_ title: String) { self.title = title }

    func show(_ done: Int, of total: Int) {
        guard Console.errorIsTerminal, total > 0 else { return }
        Console.overwriteLine(Self.text(title, done, of: total))
        isOpen = true
    }

    /// Shows work that is measured in two units. The bar shows the second one.
    ///
    /// - Parameter note: The text behind the bar, as far as there is room.
    func show(
        _ first: (unit: String, done: Int, total: Int), _ second: (unit: String, done: Int, total: Int),
        _ note: String = ""
    ) {
        guard Console.errorIsTerminal else { return }
        let text = Self.text(title, first, second) + (note.isEmpty ? "" : "  " + note)
        // A terminal would break a longer line, and the next one would cover only its last part.
        let shown = text.prefix(Console.errorWidth - 1)
        Console.overwriteLine(shown + String(repeating: " ", count: max(0, lastCount - shown.count)))
        lastCount = shown.count
        isOpen = true
    }

    /// Leaves the line as it is. The next output begins a new one.
    func end() {
        if isOpen { Console.endLine() }
        isOpen = false
        lastCount = 0
    }

    /// The text is never shorter than the one before, which it covers: the count always has the width of the total.
    static func text(_ title: String, _ done: Int, of total: Int) -> String {
        let (bar, percent) = bar(done, of: total)
        return "\(title)  \(bar)  \(aligned(done, of: total))  \(percent)"
    }

    static func text(
        _ title: String, _ first: (unit: String, done: Int, total: Int), _ second: (unit: String, done: Int, total: Int)
    ) -> String {
        let (bar, percent) = bar(second.done, of: second.total)
        let counts = [first, second].map { "\(aligned($0.done, of: $0.total)) \($0.unit)" }
        return "\(title)  \(bar)  \(counts.joined(separator: "  "))  \(percent)"
    }

    private static func bar(_ done: Int, of total: Int) -> (bar: String, percent: String) {
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return ("[\(bar)]", aligned("\(Int(share * 100))%", 4))
    }

    private static func aligned(_ done: Int, of total: Int) -> String {
        "\(aligned(String(done), String(total).count))/\(total)"
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
