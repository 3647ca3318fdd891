public import Foundation
internal import KeychainModel

extension Keychain {
    /// The moment from which a value is gone.
    ///
    /// ```swift
    /// try keychain.set("s3cret", for: "accessToken", expires: .after(.hours(24)))
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
            case span(TimeSpan)
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
        /// - Parameter time: The time, at least a millisecond. 0 makes the call that stores the value throw
        ///   `.parameter`.
        public static func after(_ time: TimeSpan) -> Expiration { Expiration(moment: .span(time)) }

        /// The expiry as the engine takes it.
        ///
        /// - Throws: `.parameter` for a date that calendars do not show.
        func model() throws(KeychainError) -> ItemExpiry {
            switch moment {
            case .never: .never
            case .span(let span): .after(span.milliseconds)
            case .date(let date): try .at(seconds: date.timeIntervalSinceReferenceDate)
            }
        }
    }

    /// A length of time in milliseconds. A day has 24 hours, even where clocks change.
    public struct TimeSpan: Sendable, Hashable {
        /// The number of milliseconds, rounded up.
        let milliseconds: UInt64

        private init(seconds: Double) {
            milliseconds = UInt64(exactly: (seconds * 1_000).rounded(.up)) ?? (seconds > 0 ? .max : 0)
        }

        /// Makes the length of a `Duration`, rounded up to a millisecond. A negative one counts as 0.
        ///
        /// - Parameter duration: The length.
        public init(_ duration: Duration) { self.init(seconds: duration / .seconds(1)) }

        /// A number of seconds, with a fraction or without.
        public static func seconds(_ count: Double) -> TimeSpan { TimeSpan(seconds: count) }
        /// A number of minutes.
        public static func minutes(_ count: Double) -> TimeSpan { TimeSpan(seconds: count * 60) }
        /// A number of hours.
        public static func hours(_ count: Double) -> TimeSpan { TimeSpan(seconds: count * 3_600) }
        /// A number of days of 24 hours each.
        public static func days(_ count: Double) -> TimeSpan { TimeSpan(seconds: count * 86_400) }
    }
}
