/// The protocol's way to write any text within a line: percent sign and two digits.
enum AssuanText {
    /// The bytes of a line that the protocol allows, without its end.
    static let lineLimit = 1000

    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar.value < 0x20 || scalar.value == 0x7f {
                escaped += scalar.value < 0x10 ? "%0" : "%"
                escaped += String(scalar.value, radix: 16, uppercase: true)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

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
                guard place + 1 < bytes.endIndex, let high = digit(bytes[place]), let low = digit(bytes[place + 1])
                else { throw .garbage("data with a percent sign that stands for nothing") }
                byte = high << 4 | low
                place += 2
            }
            guard data.append(byte) else { throw .garbage("an answer that is too long") }
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
