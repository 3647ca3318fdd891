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

    /// The names by which a command finds the item, and no labels of passwords.
    static func names(of item: Item) -> [String] {
        Level.name.attributes(of: item.itemClass).compactMap { item.attributes[$0]?.text }
    }

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
    func isIn(_ item: Item) -> Bool { item.attributes.entries.contains { $0.value.text.map(isIn) ?? false } }

    /// By characters, so that an accent may be written in either way, and by scalars: a person may remember a part of what
    /// is shown as one character.
    private func isIn(_ text: String) -> Bool {
        let whole = Self.folded(text)
        return whole.contains(self.text) || Array(whole.unicodeScalars).contains(Array(self.text.unicodeScalars))
    }

    /// Capitals first: "ß" is "SS" then, and each form of sigma is the same.
    private static func folded(_ text: String) -> String { text.uppercased().lowercased() }
}
