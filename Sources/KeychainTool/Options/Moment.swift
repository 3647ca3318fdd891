internal import ArgumentParser
internal import Foundation

/// A date, or a date and a time, in local time unless the text has a time zone.
struct Moment: ExpressibleByArgument {
    let date: Date

    /// A date alone means its first moment.
    init?(argument text: String) {
        let local = DateFormatter()
        local.locale = Locale(identifier: "en_US_POSIX")
        for format in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm"] {
            local.dateFormat = format
            // The parser takes shorter texts too.
            if let date = local.date(from: text), local.string(from: date) == text {
                self.date = date
                return
            }
        }
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }  // The text is no moment.
        self.date = date
    }
}
