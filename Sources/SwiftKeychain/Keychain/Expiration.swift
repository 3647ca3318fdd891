public import FoundationEssentials
internal import KeychainModel

extension Keychain {
    /// The moment from which a value is gone.
    ///
    /// ```swift
    /// try keychain.set("s3cret", for: "accessToken", expires: .after(hours: 24))
    /// ```
    ///
    /// From that moment no call of any program finds the item, and another one can be added in its place, also while
    /// the keychain is locked. The program need not run then. The bytes are removed an hour after a
    /// write has seen that the item has expired, by the first write from then on, by `keychaind` or by `keychainctl watch`,
    /// while the keychain is unlocked. So a clock that is wrong for a moment destroys nothing. A clock that is set back does not bring an
    /// item back that a call has missed already.
    ///
    /// A clock that was far ahead, and was looked at then, makes the keychain refuse to store what would expire before that
    /// time, with `.parameter`: the error says how to mend it.
    ///
    /// The date itself is not encrypted: a thief of the store's files learns that something expires, and when. A value
    /// that a program has read stays with it.
    public struct Expiration: Sendable, Hashable {
        private enum Moment: Sendable, Hashable {
            case never
            case date(Date)
            /// The time in milliseconds.
            case span(UInt64)
        }
        private let moment: Moment

        /// Does not expire.
        public static let never = Expiration(moment: .never)

        /// Expires at a date, to the millisecond.
        ///
        /// - Parameter date: The date, in the years 1970 to 9999. A date that has passed makes the call that stores the
        ///   value throw `.parameter`.
        public static func at(_ date: Date) -> Expiration { Expiration(moment: .date(date)) }

        /// Expires a time after the value was stored. The time passes while the computer sleeps or is off, too.
        ///
        /// - Parameter time: The time, rounded up to a millisecond. 0 and less make the call that stores the value throw
        ///   `.parameter`.
        public static func after(_ time: Duration) -> Expiration { Expiration(moment: .span(milliseconds(time))) }

        /// Expires a number of minutes after the value was stored.
        public static func after(minutes: Int) -> Expiration { after(minutes, ofSeconds: 60) }
        /// Expires a number of hours after the value was stored.
        public static func after(hours: Int) -> Expiration { after(hours, ofSeconds: 3_600) }
        /// Expires a number of days of 24 hours each after the value was stored, even where clocks change.
        public static func after(days: Int) -> Expiration { after(days, ofSeconds: 86_400) }

        private static func after(_ count: Int, ofSeconds unit: Int) -> Expiration {
            let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
            return after(.seconds(isTooLong ? (count > 0 ? .max : .min) : seconds))
        }

        /// Rounded up, and no more than a number that every keychain refuses.
        private static func milliseconds(_ time: Duration) -> UInt64 {
            let (seconds, attoseconds) = time.components
            guard time > .zero else { return 0 }
            guard seconds < 1 << 53 else { return .max }
            return UInt64(seconds) * 1_000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }

        /// The expiry as the engine takes it.
        ///
        /// - Throws: `.parameter` for a date that calendars do not show.
        func model() throws(KeychainError) -> ItemExpiry {
            switch moment {
            case .never: .never
            case .span(let milliseconds): .after(milliseconds)
            case .date(let date): try .at(seconds: date.timeIntervalSinceReferenceDate)
            }
        }
    }
}
