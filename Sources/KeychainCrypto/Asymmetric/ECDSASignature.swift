internal import Foundation
internal import SwiftASN1

/// SEQUENCE { r INTEGER, s INTEGER }.
enum ECDSASignature {
    /// - Parameter numbers: r ‖ s, of one size.
    static func der(_ numbers: Data) -> Data {
        let half = numbers.count / 2
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for number in [numbers.prefix(half), numbers.suffix(half)] {
                serializer.appendPrimitiveNode(identifier: .integer) { bytes in
                    let digits = number.drop { $0 == 0 }
                    // A first bit that is set would make it negative, and zero has one byte.
                    if digits.first.map({ $0 >= 0x80 }) ?? true { bytes.append(0) }
                    bytes += digits
                }
            }
        }
        return Data(serializer.serializedBytes)
    }

    /// - Returns: r ‖ s, each of the field's size, or nil for anything but the one DER of two numbers that fit.
    static func numbers(inDER bytes: Data, fieldByteCount: Int) -> Data? {
        try? DER.sequence(DER.parse(Array(bytes)), identifier: .sequence) { nodes in
            let numbers = [
                try number(in: ArraySlice<UInt8>(derEncoded: &nodes), fieldByteCount),
                try number(in: ArraySlice<UInt8>(derEncoded: &nodes), fieldByteCount),
            ]
            return numbers[0] + numbers[1]
        }
    }

    /// - Parameter bytes: An INTEGER, which the parser has refused if it is negative, and rid of the zero in front.
    private static func number(in bytes: ArraySlice<UInt8>, _ fieldByteCount: Int) throws -> Data {
        let digits = bytes.drop { $0 == 0 }
        guard digits.count <= fieldByteCount else {
            throw ASN1Error.invalidASN1Object(reason: "not a number of a signature")
        }
        return Data(count: fieldByteCount - digits.count) + digits
    }
}
