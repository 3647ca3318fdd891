import KeychainTestSupport

/// What the helper does to a store.
struct FaultProbe {
    let status: Int32
    let lines: [String]

    static func run(_ words: String...) throws -> FaultProbe {
        let (lines, status) = try HelperProcess(words: words).finish()
        return FaultProbe(status: status, lines: lines)
    }

    /// Each begins with the words that repeat it.
    var failures: [String] { lines.filter { $0.hasPrefix("FAILED") } }

    /// Over all lines that have a figure of this name.
    func sum(_ name: String) -> Int {
        var sum = 0
        for line in lines where !line.hasPrefix("FAILED") {
            for word in line.split(separator: " ") where word.hasPrefix("\(name)=") {
                sum += Int(word.dropFirst(name.count + 1)) ?? 0
            }
        }
        return sum
    }
}
