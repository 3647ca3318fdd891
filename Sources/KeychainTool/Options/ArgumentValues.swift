internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel
internal import KeychainSystem

/// Bytes in base64 on the command line, as `--json` shows them.
struct Base64Argument: ExpressibleByArgument {
    let bytes: Data

    init?(argument: String) {
        guard let bytes = Data(base64Encoded: argument) else { return nil }
        self.bytes = bytes
    }
}

/// A date, or a date and a time, in local time unless the text has a time zone.
struct Moment: ExpressibleByArgument {
    let date: Date

    /// A date alone means its first moment.
    init?(argument text: String) {
        let date = LocalTime.date(text) ?? (try? Date(text, strategy: .iso8601))
        guard let date else { return nil }  // The text is no moment.
        self.date = date
    }
}

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

/// The time for which a keychain may go unused: a number with s, m, h or d, or "never".
struct IdleLimit: ExpressibleByArgument, Equatable {
    /// The keybag has four bytes for the seconds.
    private static let range = 1...Int(UInt32.max)

    /// nil: for ever.
    let seconds: Int?

    init?(argument: String) {
        if argument == "never" {
            seconds = nil
            return
        }
        guard let length = DurationText.seconds(argument), Self.range.contains(length) else { return nil }
        seconds = length
    }

    static var defaultCompletionKind: CompletionKind { .list(["5m", "10m", "1h", "never"]) }
}

/// A length of time: a number with s, m, h or d.
protocol TimeArgument: ExpressibleByArgument {
    static var range: ClosedRange<Int> { get }
    /// The times that a shell offers.
    static var examples: [String] { get }
    init(seconds: Int)
}

extension TimeArgument {
    init?(argument: String) {
        guard let seconds = DurationText.seconds(argument), Self.range.contains(seconds) else { return nil }
        self.init(seconds: seconds)
    }

    static var defaultCompletionKind: CompletionKind { .list(examples) }
}

/// The time for which files of the class "when user inactive" stay open after a lock.
struct TimeAfterLock: TimeArgument {
    static let range = PasscodePolicy.timesAfterLock
    static let examples = ["0s", "5m", "10m", "1h"]
    let seconds: Int
}

/// A length of time within which a certificate ends.
struct EndsWithin: TimeArgument {
    static let range = 0...Int.max
    static let examples = ["7d", "30d", "90d"]
    let seconds: Int
}

enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
}

/// The kinds of key that can be made, each with its size in bits.
enum KeyType: String, CaseIterable, ExpressibleByArgument {
    case ec256, ec384, ec521, rsa2048, rsa3072, rsa4096

    var kind: AsymmetricKey.Kind { rawValue.hasPrefix("rsa") ? .rsa : .ec }

    var bitCount: Int { Int(rawValue.filter(\.isNumber))! }  // every name has it
}

extension KeyFileFormat: ExpressibleByArgument {}
