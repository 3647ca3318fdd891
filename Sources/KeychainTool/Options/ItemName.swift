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
        Level.name.attributes(of: item.itemClass).compactMap { attribute in
            switch item.attributes[attribute] {
            case .text(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        }
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
