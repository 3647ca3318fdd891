internal import KeychainModel

/// The name that a person has for an item: its service or server, its tag, or its label.
struct ItemName {
    /// The attributes that name an item. An item with the name as its label is meant only if no other item has the
    /// name.
    enum Level: CaseIterable {
        case name, label
    }

    static let levels = Level.allCases

    private let text: String

    init(_ text: String) { self.text = text }

    /// Copies of the query with the name, one for each attribute of the level that its class has.
    func queries(_ query: ItemQuery, at level: Level) throws -> [ItemQuery] {
        try level.attributes(of: query.itemClass).compactMap { attribute in
            guard query.attributes[attribute] == nil else { return nil }
            var named = query
            let choice = AttributeChoice("name", attribute, text)
            named.attributes[attribute] = try AttributeSet([choice].compactMap(\.self), of: query.itemClass)[attribute]
            return named
        }
    }
}

extension ItemName.Level {
    fileprivate func attributes(of itemClass: ItemClass) -> [Attribute] {
        switch (self, itemClass) {
        case (.name, .genericPassword): [.service]
        case (.name, .internetPassword): [.server]
        case (.name, .key), (.name, .identity): [.applicationTag, .label]
        case (.name, .certificate): [.label]
        case (.label, .genericPassword), (.label, .internetPassword): [.label]
        case (.label, _): []
        }
    }
}

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
