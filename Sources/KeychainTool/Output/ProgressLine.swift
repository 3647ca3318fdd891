/// A line at the terminal that shows the progress of long work. Without a terminal there is no line.
final class ProgressLine {
    /// Work in one unit, whose name begins with a blank or is empty.
    typealias Count = (unit: String, done: Int, total: Int)

    private static let width = 30

    private let title: String
    private var isOpen = false
    /// The length of the present text, without the blanks that cover a longer one.
    private var lastCount = 0

    init(_ title: String) { self.title = title }

    func show(_ done: Int, of total: Int) { if total > 0 { show([("", done, total)]) } }

    /// - Parameters:
    ///   - counts: The work in several units. The bar shows the last one.
    ///   - note: The text behind the bar, as far as there is room.
    func show(_ counts: [Count], _ note: String = "") {
        guard Console.errorIsTerminal else { return }
        let text = Self.text(title, counts) + (note.isEmpty ? "" : "  " + note)
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

    /// A count always has the width of its total.
    static func text(_ title: String, _ counts: [Count]) -> String {
        let (_, done, total) = counts[counts.count - 1]
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        let texts = counts.map { aligned(String($0.done), String($0.total).count) + "/\($0.total)" + $0.unit }
        return "\(title)  [\(bar)]  \(texts.joined(separator: "  "))  \(aligned("\(Int(share * 100))%", 4))"
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
