internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel

/// The expiry of an item: a length of time, a moment, or "never".
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
        } else if let moment = Moment(argument: argument),
            let date = ExpiryDate(seconds: moment.date.timeIntervalSinceReferenceDate)
        {
            value = .at(date)
        } else {
            return nil
        }
    }

    static var defaultCompletionKind: CompletionKind { .list(["1h", "24h", "30d", "never"]) }
}
