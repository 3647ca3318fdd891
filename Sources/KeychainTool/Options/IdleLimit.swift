internal import ArgumentParser

/// How long a keychain may go unused: a number with s, m, h or d, or "never".
struct IdleLimit: ExpressibleByArgument, Equatable {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// Four bytes of the keybag.
    private static let range = 1...Int(UInt32.max)

    /// nil: for ever.
    let seconds: Int?

    init?(argument: String) {
        if argument == "never" {
            seconds = nil
            return
        }
        let digits = argument.dropLast()
        guard let unit = argument.last.flatMap({ Self.units[$0] }), digits.allSatisfy(\.isNumber),
            let count = Int(digits)
        else { return nil }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: unit)
        guard !isTooLarge, Self.range.contains(product) else { return nil }
        seconds = product
    }

    static var defaultCompletionKind: CompletionKind { .list(["5m", "10m", "1h", "never"]) }
}

/// "on" or "off".
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
}
