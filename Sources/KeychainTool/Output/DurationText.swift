/// Lengths of time for people: "10 minutes", "1 hour 30 minutes".
enum DurationText {
    static func text(seconds: Int) -> String {
        var rest = seconds
        var parts: [String] = []
        for (unit, length) in [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)] {
            let count = rest / length
            rest %= length
            if count > 0 { parts.append("\(count) \(unit)\(count == 1 ? "" : "s")") }
        }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }
}
