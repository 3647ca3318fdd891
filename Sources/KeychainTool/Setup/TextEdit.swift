internal import Foundation

/// One change of a text: what stood at a place, and what stands there now. It can be taken back without the text of before.
struct TextEdit: Equatable {
    /// In bytes.
    var offset: Int
    var removed: Data
    var inserted: Data

    init(offset: Int, removing removed: Substring = "", inserting inserted: String) {
        (self.offset, self.removed, self.inserted) = (offset, Data(removed.utf8), Data(inserted.utf8))
    }

    /// The whole lines in which two texts differ. nil: they are the same.
    init?(from before: Data, to after: Data) {
        guard before != after else { return nil }
        let newline = UInt8(ascii: "\n")
        var start = zip(before, after).prefix { $0 == $1 }.count
        start = before[..<start].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let rest = (before[start...], after[start...])
        var end = zip(rest.0.reversed(), rest.1.reversed()).prefix { $0 == $1 }.count
        // Back to the end of a line that both have.
        while end > 0, before[before.count - end - 1..<before.count - end].first != newline, before.count - end > start
        {
            end -= 1
        }
        offset = start
        removed = Data(before[start..<(before.count - end)])
        inserted = Data(after[start..<(after.count - end)])
    }

    func applied(to text: Data) -> Data {
        Data(text[..<offset]) + inserted + text[(offset + removed.count)...]
    }

    /// The text without the change. nil: what was inserted is not there any more, or more than once.
    func takenBack(from text: Data) -> Data? {
        var place = offset
        if !(offset + inserted.count <= text.count && text[offset..<(offset + inserted.count)] == inserted) {
            guard !inserted.isEmpty, let found = text.range(of: inserted),
                text.range(of: inserted, in: found.upperBound..<text.endIndex) == nil
            else { return nil }
            place = found.lowerBound
        }
        return Data(text[..<place]) + removed + text[(place + inserted.count)...]
    }
}
