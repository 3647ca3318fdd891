internal import Foundation

/// One change of a text: the former and the present bytes of a place.
struct TextEdit: Codable, Equatable {
    /// The place in bytes.
    let offset: Int
    let removed: Data
    let inserted: Data

    init(offset: Int, removing removed: Substring = "", inserting inserted: String) {
        (self.offset, self.removed, self.inserted) = (offset, Data(removed.utf8), Data(inserted.utf8))
    }

    /// The bytes in which two texts differ. nil: they are the same.
    init?(from before: Data, to after: Data) {
        guard before != after else { return nil }
        let start = zip(before, after).prefix { $0 == $1 }.count
        let end = zip(before[start...].reversed(), after[start...].reversed()).prefix { $0 == $1 }.count
        offset = start
        removed = Data(before[start..<(before.count - end)])
        inserted = Data(after[start..<(after.count - end)])
    }

    func applied(to text: Data) -> Data { replacing(removed.count, of: text, with: inserted) }

    /// Whether a text has the change at its place.
    func isIn(_ text: Data) -> Bool {
        offset >= 0 && offset <= text.count && text.dropFirst(offset).starts(with: inserted)
    }

    /// - Parameter text: The text with this change as its last one.
    func takenBack(from text: Data) -> Data { replacing(inserted.count, of: text, with: removed) }

    private func replacing(_ count: Int, of text: Data, with new: Data) -> Data {
        Data(text.prefix(offset)) + new + text.dropFirst(offset + count)
    }
}
