internal import ArgumentParser
internal import Foundation
internal import KeychainModel

/// When an item is to expire: a length of time, a moment, or "never".
struct Expiry: ExpressibleByArgument {
    let value: ItemExpiry

    static let help =
        "When the item ceases to be there: a number with s, m, h or d, a date such as 2027-01-31 or 2027-01-31T18:00 "
        + "in local time, or never."

    init?(argument: String) {
        if argument == "never" {
            value = .never
        } else if let seconds = DurationText.seconds(argument), let length = UInt64(exactly: seconds), length > 0 {
            let (milliseconds, isTooLarge) = length.multipliedReportingOverflow(by: 1_000)
            guard !isTooLarge else { return nil }
            value = .after(milliseconds)
        } else if let date = Self.date(argument), let moment = ExpiryDate(seconds: date.timeIntervalSinceReferenceDate)
        {
            value = .at(moment)
        } else {
            return nil
        }
    }

    /// A date alone is the moment at which it begins.
    private static func date(_ text: String) -> Date? {
        let local = DateFormatter()
        local.locale = Locale(identifier: "en_US_POSIX")
        for format in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm"] {
            local.dateFormat = format
            // The parser takes shorter texts too.
            if let date = local.date(from: text), local.string(from: date) == text { return date }
        }
        return try? Date(text, strategy: .iso8601)  // nil: it is no moment at all
    }

    static var defaultCompletionKind: CompletionKind { .list(["1h", "24h", "30d", "never"]) }
}
