internal import FoundationEssentials
internal import KeychainModel

/// A text that a person remembers of an item.
struct NamePart {
    private let text: String

    init(_ text: String) { self.text = Self.folded(text) }

    /// Whether a text attribute of an item has the part, in capitals or not.
    func isIn(_ item: Item) -> Bool { item.attributes.entries.contains { isIn($0.value) } }

    private func isIn(_ value: AttributeValue) -> Bool {
        switch value {
        case .text(let whole): isIn(Self.folded(whole))
        case .data(let bytes): String(validating: bytes, as: UTF8.self).map { isIn(Self.folded($0)) } ?? false
        case .number, .date: false
        }
    }

    /// By characters, so that an accent may be written in either way, and by scalars: a person may remember a part of what
    /// is shown as one character.
    private func isIn(_ whole: String) -> Bool {
        whole.contains(text) || Array(whole.unicodeScalars).contains(Array(text.unicodeScalars))
    }

    /// Capitals first: "ß" is "SS" then, and each form of sigma is the same.
    private static func folded(_ text: String) -> String { text.uppercased().lowercased() }
}
