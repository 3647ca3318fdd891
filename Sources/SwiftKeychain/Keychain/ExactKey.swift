internal import KeychainModel

/// A key as the store compares it: by its bytes. To Swift, é as one character and as two are one text.
struct ExactKey: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: ExactKey, other: ExactKey) -> Bool { one.text.hasSameBytes(as: other.text) }

    /// Texts with the same bytes are equal to Swift too, so its own hash will do.
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
