internal import KeychainModel

// Dates of expiry are moments as all others: seconds since 2001-01-01 00:00 UTC.

extension MessageReader {
    /// nil: there is none.
    ///
    /// - Throws: `.parameter` for a number that is no date.
    func expiryDate(_ number: Int) throws(KeychainError) -> ExpiryDate? {
        try time(number).map { seconds throws(KeychainError) in try ExpiryDate(checking: seconds) }
    }
}

/// The numbers of the fields are those of requests that add or change items.
extension ItemExpiry {
    private enum Field { static let at = 9, after = 10, never = 11 }

    func write(to message: inout MessageWriter) {
        switch self {
        case .at(let date): message.add(Field.at, ifAny: date.seconds)
        case .after(let milliseconds): message.add(Field.after, ifAny: milliseconds)
        case .never: message.add(Field.never, true)
        }
    }

    /// nil: the message says nothing of it.
    init?(_ message: MessageReader) throws(KeychainError) {
        let milliseconds: UInt64? = try message.value(Field.after)
        if try message.value(Field.never) ?? false {
            self = .never
        } else if let milliseconds {
            self = .after(milliseconds)
        } else if let date = try message.expiryDate(Field.at) {
            self = .at(date)
        } else {
            return nil
        }
    }
}

extension ExpirySweep: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, count: removedCount)
        message.add(2, ifAny: next?.seconds)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(removedCount: try message.count(1), next: try message.expiryDate(2))
    }
}
