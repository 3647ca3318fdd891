internal import KeychainSystem

/// The protocol's way to write any text within a line: percent sign and two digits.
enum AssuanText {
    /// The bytes of a line that the protocol allows, without its end.
    static let lineLimit = 1000

    static func escape(_ text: String) -> String { PercentEncoding.encode(text) }

    /// Text for a button, where an underscore would mark the key that presses it.
    static func escapeTitle(_ title: String) -> String {
        escape(title.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__"))
    }

    /// Appends what escaped bytes stand for, without going through any other memory.
    static func unescape(_ bytes: Slice<UnsafeRawBufferPointer>, into data: ErasedBuffer) throws(AssuanFailure) {
        var place = bytes.startIndex
        while place < bytes.endIndex {
            var byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "%") {
                guard place + 1 < bytes.endIndex, let high = PercentEncoding.digit(bytes[place]),
                    let low = PercentEncoding.digit(bytes[place + 1])
                else { throw .garbage("data with a percent sign that stands for nothing") }
                byte = high << 4 | low
                place += 2
            }
            guard data.append(byte) else { throw .garbage("an answer that is too long") }
        }
    }
}
