package import FoundationEssentials

/// The value of one attribute, in the type it was given.
package enum AttributeValue: Sendable, Hashable {
    case text(String)
    case data(Data)
    case number(Int64)
    /// Seconds since 2001-01-01 00:00 UTC, Foundation's reference date.
    case date(Double)
}

extension AttributeValue {
    /// The bytes that stand for the value in an index token.
    ///
    /// A text and the data of its UTF-8 bytes are one and the same to a search, as in Apple's keychain,
    /// which hashes both alike.
    package func withIndexedBytes<R>(_ body: (_ kind: UInt8, _ bytes: UnsafeRawBufferPointer) -> R) -> R {
        switch self {
        case .text(var text):
            return text.withUTF8 { body(1, UnsafeRawBufferPointer($0)) }
        case .data(let data):
            return data.withUnsafeBytes { body(1, $0) }
        case .number(let number):
            return withUnsafeBytes(of: number.littleEndian) { body(2, $0) }
        case .date(let seconds):
            return withUnsafeBytes(of: seconds.bitPattern.littleEndian) { body(3, $0) }
        }
    }

    /// A text, or data that is one in UTF-8; nil for every other value.
    package var text: String? {
        switch self {
        case .text(let text): text
        case .data(let data): String(validating: data, as: UTF8.self)
        case .number, .date: nil
        }
    }

    /// Whether a search for `self` finds an item that holds `other`.
    package func matches(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.data(let a), .data(let b)): a == b
        case (.text(let text), .data(let data)), (.data(let data), .text(let text)):
            text.hasSameBytes(as: data)
        case (.number(let a), .number(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        default: false
        }
    }
}

/// The values an attribute takes, after Apple's column kinds.
package enum AttributeKind: Sendable {
    /// Text, data or a number, kept in the type given.
    case blob
    /// Data; text becomes its UTF-8 bytes, a number its four bytes as a native 32-bit integer.
    case data
    /// Text; data is decoded as UTF-8.
    case string
    /// A number; text that is the canonical decimal form of a 32-bit integer becomes one, other text stays.
    case number
    case date

    /// The value in the form this kind stores, or nil if it has none.
    package func coerce(_ value: AttributeValue) -> AttributeValue? {
        switch (self, value) {
        case (.blob, .text), (.blob, .data), (.blob, .number): value
        case (.data, .data): value
        case (.data, .text(let text)): .data(Data(text.utf8))
        case (.data, .number(let number)):
            Int32(exactly: number).map { small in withUnsafeBytes(of: small) { .data(Data($0)) } }
        case (.string, .text): value
        case (.string, .data(let data)): String(validating: data, as: UTF8.self).map { .text($0) }
        case (.number, .number): value
        case (.number, .text(let text)):
            if let number = Int32(text), String(number) == text { .number(Int64(number)) } else { value }
        // A number that is no moment equals nothing, not even itself.
        case (.date, .date(let date)): date.isFinite ? value : nil
        default: nil
        }
    }
}
