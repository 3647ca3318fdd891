package import FoundationEssentials
internal import Glibc

/// Times in the time zone of the process (localtime(3)).
package enum LocalTime {
    /// The minute, as in `2026-11-26 09:30`, or a dash for a time that is beyond every calendar.
    package static func minute(_ date: Date) -> String {
        var time = tm()
        guard var seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)),
            localtime_r(&seconds, &time) != nil
        else { return "–" }
        return "\(day(time)) \(minute(time))"
    }

    /// - Parameter text: A day, which means its first moment, or a day and a time, as in `2026-11-26`,
    ///   `2026-11-26T09:30`, `2026-11-26T09:30:15`, `2026-11-26 09:30`.
    /// - Returns: nil if the text has another form, or there is no such time. A time that comes twice, since the clocks are
    ///   set back, is the later one.
    package static func date(_ text: String) -> Date? {
        let numbers = text.split(omittingEmptySubsequences: false) { "-T: ".contains($0) }.map { Int32($0) ?? -1 }
        guard [3, 5, 6].contains(numbers.count) else { return nil }
        // With the clocks set forward, and without.
        let times = [Int32(1), 0].compactMap { isForward -> time_t? in
            var time = tm()
            (time.tm_year, time.tm_mon, time.tm_mday) = (numbers[0] - 1_900, numbers[1] - 1, numbers[2])
            if numbers.count > 3 { (time.tm_hour, time.tm_min) = (numbers[3], numbers[4]) }
            if numbers.count > 5 { time.tm_sec = numbers[5] }
            time.tm_isdst = isForward
            // The weekday tells whether there is such a time at all.
            time.tm_wday = -1
            let seconds = mktime(&time)
            // A time that there is not has become another one.
            let (day, minute) = (day(time), minute(time))
            let forms = [day, "\(day)T\(minute)", "\(day)T\(minute):\(padded(time.tm_sec))", "\(day) \(minute)"]
            return time.tm_wday >= 0 && forms.contains(text) ? seconds : nil
        }
        return times.max().map { Date(timeIntervalSince1970: Double($0)) }
    }

    private static func day(_ time: tm) -> String {
        "\(padded(Int(time.tm_year) + 1_900, 4))-\(padded(time.tm_mon + 1))-\(padded(time.tm_mday))"
    }

    private static func minute(_ time: tm) -> String { "\(padded(time.tm_hour)):\(padded(time.tm_min))" }

    private static func padded(_ number: some BinaryInteger, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
