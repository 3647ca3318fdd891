import Foundation
import KeychainSystem
import Testing

@Suite("Times of this place") struct LocalTimeTests {
    private static let moments = [0, 1, -1, 951_782_400, 1_700_000_059, 4_102_444_800, 253_402_000_000]

    @Test("A minute is written as Foundation's formatter writes it, and read again", arguments: moments)
    func asFoundation(seconds: Int) throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let date = Date(timeIntervalSince1970: Double(seconds))
        let text = LocalTime.minute(date)
        #expect(text == formatter.string(from: date))
        let read = try #require(LocalTime.date(text))
        #expect((0..<60).contains(date.timeIntervalSince(read)))
    }

    @Test("A time beyond every calendar is a dash", arguments: [1e300, -1e300, 9e18, .infinity, .nan])
    func beyond(seconds: Double) { #expect(LocalTime.minute(Date(timeIntervalSince1970: seconds)) == "–") }

    @Test("A day is its first moment, and seconds may be told")
    func forms() throws {
        let day = try #require(LocalTime.date("2026-11-26"))
        #expect(LocalTime.date("2026-11-26T00:00") == day)
        #expect(LocalTime.date("2026-11-26 00:00") == day)
        #expect(LocalTime.date("2026-11-26T00:00:07") == day + 7)
    }

    @Test(
        "What is no time is none, however large its numbers are",
        arguments: [
            "", "-", "2026", "2026-11", "2026-11-31", "2026-02-29", "2026-13-01", "2026-11-26T24:00", "2026-11-26T09",
            "2026-11-26 09:30:15", "2026-11-26T9:30", " 2026-11-26", "2026-11-26Z", "2026:11:26", "+2026-11-26",
            "2147483647-99-01", "2147483647-2147483647-2147483647", "99999999999-01-01", "0000-00-00",
            "2026-2147483647-01",
        ])
    func refused(text: String) {
        #expect(LocalTime.date(text) == nil)
    }
}
