internal import FoundationEssentials
internal import SwiftASN1

/// The bytes of one element of DER.
enum DERElement {
    /// - Returns: the first element, with its header.
    /// - Throws: if there is none, or if it is longer than the bytes.
    static func first(of bytes: Data) throws -> Data {
        let count = try byteCount(of: [UInt8](bytes.prefix(6)))
        guard count <= bytes.count else { throw ASN1Error.truncatedASN1Field() }
        return Data(bytes.prefix(count))
    }

    /// - Parameter start: The tag, which has one byte, and up to five bytes of the length.
    private static func byteCount(of start: [UInt8]) throws -> Int {
        guard start.count >= 2 else { throw ASN1Error.truncatedASN1Field() }
        guard start[1] >= 0x80 else { return 2 + Int(start[1]) }
        let digitCount = Int(start[1] & 0x7F)
        guard 1...4 ~= digitCount, start.count >= 2 + digitCount else {
            throw ASN1Error.unsupportedFieldLength(reason: "the length of an element has up to four bytes")
        }
        return start[2..<2 + digitCount].reduce(0) { $0 << 8 | Int($1) } + 2 + digitCount
    }
}
