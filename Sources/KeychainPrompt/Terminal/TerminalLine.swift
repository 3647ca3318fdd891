internal import Glibc

/// A line that a person types and corrects, a byte at a time, while the terminal itself does nothing.
struct TerminalLine {
    enum Key: Equatable {
        /// The person has finished the line.
        case enter
        /// ^D on an empty line.
        case end
        /// ^C, ^\ or ^Z. A terminal that is not silent makes this signal of it.
        case signal(Int32)
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

    /// Reads up to a key that means something for the whole line.
    ///
    /// - Returns: nil: the terminal was hung up.
    mutating func read(
        from device: TerminalDevice, _ wait: Wait, until deadline: ContinuousClock.Instant?
    ) throws(WaitFailure) -> Key? {
        while let byte = try device.readByte(wait, until: deadline) {
            let key = take(byte)
            if key != .other { return key }
        }
        return nil
    }

    mutating func take(_ byte: UInt8) -> Key {
        if belongsToSequence(byte) { return .other }
        switch byte {
        case 0x0a, 0x0d: return .enter
        case 0x03: return .signal(SIGINT)
        case 0x1c: return .signal(SIGQUIT)
        case 0x1a: return .signal(SIGTSTP)
        case 0x04: return buffer.count == 0 && !isTooLong ? .end : .other
        case 0x08, 0x7f: removeLast()
        case 0x15: removeAll()
        case 0x17: removeWord()
        case 0x1b: sequence = .began
        case 0x09, 0x20...: if !buffer.append(byte) { isTooLong = true }
        // Other keys with Ctrl do nothing.
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

    /// Takes the last word away, and the blanks behind it.
    private mutating func removeWord() {
        if isTooLong { return removeAll() }
        var end = buffer.count
        let blank = UInt8(ascii: " ")
        while end > 0, buffer.bytes[end - 1] == blank { end -= 1 }
        while end > 0, buffer.bytes[end - 1] != blank { end -= 1 }
        buffer.truncate(to: end)
    }

    private mutating func removeAll() {
        buffer.truncate(to: 0)
        isTooLong = false
    }
}
