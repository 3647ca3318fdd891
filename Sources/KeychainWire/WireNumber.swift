internal import KeychainModel

/// A number of which a list is one field.
protocol PackedValue {
    static var type: WireType { get }
    /// As it is written: the bits of one of fixed size, the number itself of one of variable length.
    var encoded: UInt64 { get }

    /// - Throws: `.parameter` for a number without a meaning.
    init(encoded: UInt64) throws(KeychainError)
}

/// The four characters of an attribute.
struct AttributeCode: PackedValue {
    static let type = WireType.fourBytes
    let attribute: Attribute

    init(_ attribute: Attribute) { self.attribute = attribute }
    init(encoded: UInt64) { attribute = Attribute(rawValue: UInt32(truncatingIfNeeded: encoded)) }

    var encoded: UInt64 { UInt64(attribute.rawValue) }
}

/// A number of either sign, of which small ones take few bytes (sint64).
struct SignedNumber: PackedValue, FieldValue {
    static let type = WireType.variable
    let value: Int64

    init(_ value: Int64) { self.value = value }
    init(encoded: UInt64) { value = Int64(bitPattern: encoded >> 1) ^ -Int64(bitPattern: encoded & 1) }

    var encoded: UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    var isAbsentByDefault: Bool { value == 0 }

    func write(as number: Int, to message: inout MessageWriter) { message.add(number, ifAny: encoded) }

    init?(_ field: MessageField) throws(KeychainError) {
        guard let number = UInt64(field) else { return nil }
        self.init(encoded: number)
    }
}

extension Double: PackedValue {
    static var type: WireType { .eightBytes }

    var encoded: UInt64 { bitPattern }

    init(encoded: UInt64) { self.init(bitPattern: encoded) }
}

/// A count of something.
struct WireCount: FieldValue {
    /// No count of anything comes near it, and sums and hundredfolds of such counts are still numbers.
    private static let mostOfAnything: Int64 = 1 << 48

    let value: Int

    init(_ value: Int) { self.value = value }

    var isAbsentByDefault: Bool { value == 0 }

    func write(as number: Int, to message: inout MessageWriter) { message.add(number, ifAny: Int64(value)) }

    /// - Throws: `.parameter` for a number that cannot be a count.
    init?(_ field: MessageField) throws(KeychainError) {
        guard let number = Int64(field) else { return nil }
        guard (0...Self.mostOfAnything).contains(number) else {
            throw KeychainError(.parameter, message: "a count is \(number)")
        }
        value = Int(number)
    }
}

extension MessageWriter {
    mutating func add(_ number: Int, count: Int) { add(number, WireCount(count)) }
}

extension MessageReader {
    func count(_ number: Int) throws(KeychainError) -> Int {
        let count: WireCount? = try value(number)
        return count?.value ?? 0
    }

    /// A moment, or a number of seconds.
    ///
    /// - Throws: `.parameter` for a number that is not finite: it equals nothing, and cannot be reckoned with.
    func time(_ number: Int) throws(KeychainError) -> Double? {
        guard let seconds: Double = try value(number) else { return nil }
        guard seconds.isFinite else { throw KeychainError(.parameter, message: "a date is no moment") }
        return seconds
    }
}
