internal import FoundationEssentials

/// SEQUENCE { r INTEGER, s INTEGER }.
enum ECDSASignature {
    /// - Parameter numbers: r ‖ s, of one size.
    static func der(_ numbers: Data) -> Data {
        let half = numbers.count / 2
        return DERIntegers.der([numbers.prefix(half), numbers.suffix(half)].map { $0.drop { $0 == 0 } })
    }

    /// - Returns: r ‖ s, each of the field's size, or nil for anything but the one DER of two numbers that fit.
    static func numbers(inDER bytes: Data, fieldByteCount: Int) -> Data? {
        guard let numbers = try? DERIntegers.numbers(in: bytes), numbers.count == 2,
            numbers.allSatisfy({ $0.count <= fieldByteCount })
        else { return nil }
        return Data(numbers.flatMap { Array(repeating: 0, count: fieldByteCount - $0.count) + $0 })
    }
}
