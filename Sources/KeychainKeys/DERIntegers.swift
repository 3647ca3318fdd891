internal import FoundationEssentials
internal import SwiftASN1

/// A SEQUENCE of INTEGERs that are not negative: an RSA key, or the two numbers of an ECDSA signature. Each number has the
/// highest byte first, and no zeros in front.
enum DERIntegers {
    static func der(_ numbers: [some Collection<UInt8>]) -> Data {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for number in numbers {
                serializer.appendPrimitiveNode(identifier: .integer) { bytes in
                    // A first bit that is set would make it negative, and zero has one byte.
                    if number.first.map({ $0 >= 0x80 }) ?? true { bytes.append(0) }
                    bytes += number
                }
            }
        }
        return Data(serializer.serializedBytes)
    }

    /// - Throws: for anything but DER, and for a negative number.
    static func numbers(in der: Data) throws -> [[UInt8]] {
        try DER.sequence(DER.parse(Array(der)), identifier: .sequence) { nodes in
            var numbers: [[UInt8]] = []
            while let node = nodes.next() {
                // The parser has refused negative numbers, and left out the zero in front.
                numbers.append(Array(try ArraySlice<UInt8>(derEncoded: node).drop { $0 == 0 }))
            }
            return numbers
        }
    }
}
