/// The moment from which an item is not there any more, to the millisecond.
package struct ExpiryDate: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package let milliseconds: UInt64

    /// The end of the year 9999. Calendars show no later dates.
    private static let latest: UInt64 = 253_402_300_799_999
    private static let millisecondsTo2001 = 978_307_200_000.0

    /// The first moment of 1970.
    package static let earliest = ExpiryDate(milliseconds: 0)!  // it is in the range

    /// nil for a date that calendars do not show.
    package init?(milliseconds: UInt64) {
        guard milliseconds <= Self.latest else { return nil }
        self.milliseconds = milliseconds
    }

    /// - Parameter seconds: Seconds since 2001-01-01 00:00 UTC.
    package init?(seconds: Double) {
        let milliseconds = (seconds * 1_000 + Self.millisecondsTo2001).rounded()
        guard let exact = UInt64(exactly: milliseconds) else { return nil }
        self.init(milliseconds: exact)
    }

    /// The nearest date that calendars show.
    package init(clamping seconds: Double) {
        let latest = ExpiryDate(milliseconds: Self.latest)!  // it is in the range
        self = ExpiryDate(seconds: seconds) ?? (seconds > 0 ? latest : .earliest)
    }

    /// - Throws: `.parameter` for a date that calendars do not show.
    package init(checking seconds: Double) throws(KeychainError) {
        guard let date = ExpiryDate(seconds: seconds) else {
            throw KeychainError(.parameter, message: "an item expires between the years 1970 and 9999")
        }
        self = date
    }

    /// Seconds since 2001-01-01 00:00 UTC.
    package var seconds: Double { (Double(milliseconds) - Self.millisecondsTo2001) / 1_000 }

    package static func < (one: ExpiryDate, other: ExpiryDate) -> Bool { one.milliseconds < other.milliseconds }
}

// MARK: - Stored bytes

extension ExpiryDate {
    /// The date, big-endian, and the complement of its bits: no damage of a byte makes another date of it. The order of
    /// the bytes is that of the dates.
    package static let storedByteCount = 16

    package var storedBytes: [UInt8] {
        [milliseconds, ~milliseconds].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    /// nil for bytes that ``storedBytes`` did not make.
    package init?(storedBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.storedByteCount else { return nil }
        let (date, complement) = (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
        guard complement == ~date else { return nil }
        self.init(milliseconds: date)
    }
}

/// The expiry that a caller asks for.
package enum ItemExpiry: Sendable, Hashable {
    case never
    case at(ExpiryDate)
    /// Milliseconds from the moment at which the engine carries the request out.
    case after(UInt64)

    /// - Parameter seconds: Seconds since 2001-01-01 00:00 UTC.
    /// - Throws: `.parameter` for a date that calendars do not show.
    package static func at(seconds: Double) throws(KeychainError) -> ItemExpiry {
        .at(try ExpiryDate(checking: seconds))
    }

    /// - Throws: `.parameter` for a date that has passed, or that calendars do not show.
    package func date(at now: ExpiryDate) throws(KeychainError) -> ExpiryDate? {
        switch self {
        case .never: return nil
        case .at(let date):
            guard date > now else {
                throw KeychainError(.parameter, message: "the item would expire at a moment that has passed")
            }
            return date
        case .after(let milliseconds):
            let (sum, isTooLarge) = now.milliseconds.addingReportingOverflow(milliseconds)
            guard milliseconds > 0, !isTooLarge, let date = ExpiryDate(milliseconds: sum) else {
                throw KeychainError(
                    .parameter, message: "an item expires after a millisecond at least, and before the year 10000")
            }
            return date
        }
    }
}

/// An engine's account of the items that have expired.
package struct ExpirySweep: Sendable, Hashable {
    package var removedCount: Int
    /// The next moment of work: an item expires, or expired items may go. nil: never.
    package var next: ExpiryDate?

    package init(removedCount: Int, next: ExpiryDate?) {
        self.removedCount = removedCount
        self.next = next
    }
}
