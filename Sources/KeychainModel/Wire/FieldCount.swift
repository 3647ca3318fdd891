internal import Foundation

/// Counts fields of an encoded message, without making anything of them.
///
/// An item of two bytes becomes a few hundred in memory when it is decoded, and an empty text sixteen, so a message that
/// is not too large could still take all there is.
enum FieldCount {
    /// How often the field at the end of a path occurs, in all messages that lie on it: whoever decodes joins the pieces
    /// of a message that comes in several. At least as often as it will be decoded, whatever the bytes are.
    ///
    /// - Parameters:
    ///   - path: Numbers of fields, from the outermost to the innermost.
    ///   - isPacked: Whether the last one holds many numbers, each of at least a byte: then bytes are counted.
    static func count(
        of path: ArraySlice<UInt64>, isPacked: Bool = false, in bytes: UnsafeRawBufferPointer
    ) -> Int {
        var rest = bytes[...]
        var count = 0
        while let tag = number(from: &rest) {
            switch tag & 7 {
            case 0:
                _ = number(from: &rest)
                if isPacked && path.count == 1 && tag >> 3 == path.first { count += 1 }
            case 1: rest = rest.dropFirst(8)
            case 2:
                guard let length = number(from: &rest) else { return count }
                let content = rest.prefix(Int(clamping: length))
                rest = rest.dropFirst(content.count)
                if tag >> 3 == path.first {
                    let inner = UnsafeRawBufferPointer(rebasing: content)
                    count +=
                        path.count == 1
                        ? (isPacked ? inner.count : 1) : Self.count(of: path.dropFirst(), isPacked: isPacked, in: inner)
                }
            // Begin and end of a group, whose fields are looked at as if they stood outside of it.
            case 3, 4: break
            case 5: rest = rest.dropFirst(4)
            // No decoder gets past this one.
            default: return count
            }
        }
        return count
    }

    /// A number of variable length; nil if the bytes end in it, or it has none.
    private static func number(from rest: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= shift < 64 ? UInt64(byte & 0x7f) << shift : 0
            if byte < 0x80 { return value }
        }
        return nil
    }
}
