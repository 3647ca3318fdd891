internal import FoundationEssentials
internal import KeychainModel

/// A text that a person remembers of an item.
struct NamePart {
    private let text: String

    init(_ text: String) { self.text = text.lowercased() }

    /// Whether a text attribute of an item has the part, in capitals or not.
    func isIn(_ item: Item) -> Bool { item.attributes.entries.contains { isIn($0.value) } }

    private func isIn(_ value: AttributeValue) -> Bool {
        switch value {
        case .text(let whole): whole.lowercased().contains(text)
        case .data(let bytes): String(validating: bytes, as: UTF8.self).map { isIn(.text($0)) } ?? false
        case .number, .date: false
        }
    }
}
