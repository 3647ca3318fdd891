internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainSystem

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
