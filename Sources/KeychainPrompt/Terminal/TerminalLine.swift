/// A line that a person types and corrects, a byte at a time, while the terminal itself does nothing.
struct TerminalLine {
    enum Key {
        /// The person has finished the line.
        case enter
        /// ^C, ^\, or ^D on an empty line.
        case decline
        case other
    }

    /// The signs that an arrow key or the like sends are no part of an answer (ECMA-48).
    private enum Sequence {
        case none
        case began
        case goesOn
    }

    let buffer: ErasedBuffer
    /// Whether more was typed than there is room for.
    private(set) var isTooLong = false
    private var sequence = Sequence.none

    init(capacity: Int) { buffer = ErasedBuffer(capacity: capacity) }

    mutating func take(_ byte: UInt8) -> Key {
        if belongsToSequence(byte) { return .other }
        switch byte {
        case 0x0a, 0x0d: return .enter
        case 0x03, 0x1c: return .decline
        case 0x04: return buffer.count == 0 && !isTooLong ? .decline : .other
        case 0x08, 0x7f: removeLast()
        case 0x15: removeAll()
        case 0x1b: sequence = .began
        case 0x09, 0x20...: if !buffer.append(byte) { isTooLong = true }
        // Other keys with Ctrl do nothing; ^Z neither, since nothing of the terminal would be shown while it is stopped.
        default: break
        }
        return .other
    }

    private mutating func belongsToSequence(_ byte: UInt8) -> Bool {
        switch (sequence, byte) {
        case (.began, UInt8(ascii: "[")), (.began, UInt8(ascii: "O")): sequence = .goesOn
        case (.began, _), (.none, _):
            sequence = .none
            return false
        case (.goesOn, 0x40...0x7e): sequence = .none
        // A control character ends every sequence, so that none keeps a person from leaving.
        case (.goesOn, ..<0x20):
            sequence = .none
            return false
        case (.goesOn, _): break
        }
        return true
    }

    /// Takes a whole character away, however many bytes of UTF-8 it has.
    private mutating func removeLast() {
        // The length of an answer that did not fit is not known.
        if isTooLong { return removeAll() }
        var end = buffer.count
        while end > 0 {
            end -= 1
            if buffer.bytes[end] & 0xc0 != 0x80 { break }
        }
        buffer.truncate(to: end)
    }

    private mutating func removeAll() {
        buffer.truncate(to: 0)
        isTooLong = false
    }
}
