/// A line at the terminal that says how far a long piece of work has come; nothing where nobody watches.
final class ProgressLine {
    private static let width = 30

    private let title: String
    private var isOpen = false

    init(_ title: String) { self.title = title }

    func show(_ done: Int, of total: Int) {
        guard Console.errorIsTerminal else { return }
        Console.overwriteLine(Self.text(title, done, of: total))
        isOpen = true
    }

    /// Leaves the line as it is; what is written next begins a new one.
    func end() {
        if isOpen { Console.endLine() }
        isOpen = false
    }

    /// Never shorter than what was shown before, which it covers: the total stays, and the count has its width.
    static func text(_ title: String, _ done: Int, of total: Int) -> String {
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        let percent = "\(Int(share * 100))%"
        return "\(title)  [\(bar)]  \(aligned(String(done), String(total).count))/\(total)  \(aligned(percent, 4))"
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
