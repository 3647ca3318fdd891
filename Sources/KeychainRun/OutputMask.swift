internal import KeychainSystem

/// Puts a mark in the place of secrets in a stream of output. The mask is a courtesy: a program can evade it.
///
/// Bytes that cannot be part of a secret are passed on at once. The possible beginning of a secret is held until the
/// next bytes decide. A zero byte is a byte like all others.
package final class OutputMask {
    package static let mark = "<masked>"

    private struct Match {
        var range: Range<Int>
        /// Whether the mark is written already, and the rest of the match is only left out.
        var isMarked = false
    }

    private let table: PatternTable
    private var state = PatternTable.State()
    /// The bytes that are not passed on yet, and room for the next chunk.
    private let window: UnsafeMutableRawBufferPointer
    private var count = 0
    /// The matches in the window, in their order. They do not overlap.
    private var matches: [Match] = []
    private var hasZero = false
    private var hasMarks = false

    /// Whether a mark stands in output that is not text. The mark may have changed its meaning.
    package var hasChangedBinary: Bool { hasZero && hasMarks }

    package init(_ table: PatternTable) {
        self.table = table
        window = .allocate(byteCount: table.longest + Self.chunk, alignment: 16)
    }

    deinit {
        ckeychain_erase(window.baseAddress, window.count)
        window.deallocate()
    }

    private static let chunk = 64 << 10

    /// - Parameter pass: Gets the output, piece by piece.
    package func add(_ bytes: UnsafeRawBufferPointer, pass: (UnsafeRawBufferPointer) -> Void) {
        hasZero = hasZero || bytes.contains(0)
        var rest = bytes[...]
        while !rest.isEmpty {
            search(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.chunk)))
            rest = rest.dropFirst(Self.chunk)
            passOn(count - table.heldCount(state), pass)
        }
    }

    /// Passes on the held bytes, because the output ends.
    package func end(pass: (UnsafeRawBufferPointer) -> Void) {
        state = PatternTable.State()
        passOn(count, pass)
    }

    private func search(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            // Nearly all output lies outside of possible secrets.
            let innocent = state == PatternTable.State() ? table.innocentCount(rest) : 0
            UnsafeMutableRawBufferPointer(rebasing: window[count...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: rest[..<innocent]))
            count += innocent
            guard innocent < rest.count else { return }
            take(rest[innocent])
            rest = UnsafeRawBufferPointer(rebasing: rest[(innocent + 1)...])
        }
    }

    private func take(_ byte: UInt8) {
        window[count] = byte
        count += 1
        state = table.next(state, byte)
        let length = table.matchCount(state)
        if length > 0 { add(Match(range: count - length..<count)) }
    }

    /// Overlapping matches become one.
    private func add(_ new: Match) {
        var new = new
        while let last = matches.last, last.range.upperBound > new.range.lowerBound {
            new.range = min(last.range.lowerBound, new.range.lowerBound)..<new.range.upperBound
            new.isMarked = last.isMarked || new.isMarked
            matches.removeLast()
        }
        matches.append(new)
    }

    /// Passes on the first `end` bytes of the window, with marks in the place of matches.
    private func passOn(_ end: Int, _ pass: (UnsafeRawBufferPointer) -> Void) {
        var place = 0
        var left: [Match] = []
        for match in matches {
            guard match.range.lowerBound < end else {
                let range = match.range.lowerBound - end..<match.range.upperBound - end
                left.append(Match(range: range, isMarked: match.isMarked))
                continue
            }
            give(place..<match.range.lowerBound, pass)
            if !match.isMarked { Array(Self.mark.utf8).withUnsafeBytes(pass) }
            hasMarks = true
            place = min(match.range.upperBound, end)
            if match.range.upperBound > end {
                left.append(Match(range: 0..<match.range.upperBound - end, isMarked: true))
            }
        }
        give(place..<end, pass)
        matches = left
        let rest = count - end
        if end > 0 {
            window.copyMemory(from: UnsafeRawBufferPointer(rebasing: window[end..<count]))
            ckeychain_erase(window.baseAddress.map { $0 + rest }, end)
            count = rest
        }
    }

    private func give(_ range: Range<Int>, _ pass: (UnsafeRawBufferPointer) -> Void) {
        if !range.isEmpty { pass(UnsafeRawBufferPointer(rebasing: window[range])) }
    }
}
