/// Lengths of time for people: "10 minutes", "1 hour 30 minutes".
package enum DurationText {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Reads a number that is followed by s, m, h or d ("90s", "24h"). Any other text gives nil.
    package static func seconds(_ text: String) -> Int? {
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), digits.allSatisfy({ ("0"..."9").contains($0) }),
            let count = Int(digits)
        else { return nil }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: unit)
        return isTooLarge ? nil : product
    }

    package static func text(seconds: Int) -> String {
        var rest = seconds
        var parts: [String] = []
        for (unit, length) in [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)] {
            let count = rest / length
            rest %= length
            if count > 0 { parts.append(counted(count, unit)) }
        }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }
}
