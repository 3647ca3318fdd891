/// Attributes with their values: a short list, in the order they were set.
package struct AttributeSet: Sendable {
    package private(set) var entries: [(attribute: Attribute, value: AttributeValue)] = []

    package init(capacity: Int = 8) { entries.reserveCapacity(capacity) }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }

    /// Linear, because an item has about ten attributes and hashing costs more than looking.
    package subscript(attribute: Attribute) -> AttributeValue? {
        get { entries.first { $0.attribute == attribute }?.value }
        set {
            let place = entries.firstIndex { $0.attribute == attribute }
            switch (place, newValue) {
            case (let place?, let value?): entries[place].value = value
            case (let place?, nil): entries.remove(at: place)
            case (nil, let value?): entries.append((attribute, value))
            case (nil, nil): break
            }
        }
    }

    /// Adds an attribute that the caller knows is not there yet.
    package mutating func append(_ attribute: Attribute, _ value: AttributeValue) {
        entries.append((attribute, value))
    }
}

extension AttributeSet: Equatable {
    package static func == (a: AttributeSet, b: AttributeSet) -> Bool {
        a.count == b.count && a.entries.allSatisfy { b[$0.attribute] == $0.value }
    }
}

extension AttributeSet: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (Attribute, AttributeValue)...) {
        self.init()
        for (attribute, value) in elements { self[attribute] = value }
    }
}
