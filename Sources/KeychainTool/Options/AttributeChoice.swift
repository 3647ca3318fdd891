internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel

/// One attribute that an option on the command line names.
struct AttributeChoice {
    /// The option, for messages.
    var option: String
    var attribute: Attribute
    var value: AttributeValue

    init?(_ option: String, _ attribute: Attribute, _ text: String?) {
        guard let text else { return nil }
        self.init(option, attribute, AttributeValue.text(text))
    }

    init?(_ option: String, _ attribute: Attribute, _ value: AttributeValue?) {
        guard let value else { return nil }
        self.option = option
        self.attribute = attribute
        self.value = value
    }

    /// The words for messages: "service mail.example".
    var inWords: String {
        "\(option.dropFirst(2)) \(value.text(of: attribute) { $0.base64EncodedString() })"
    }

    /// Whether the attribute is one that an item's name stands for.
    var isItsName: Bool { [.service, .server, .applicationTag].contains(attribute) }

    func applies(to itemClass: ItemClass) -> Bool {
        AttributeTable.table(for: itemClass)[attribute] != nil
    }
}

extension AttributeSet {
    /// - Throws: a mistake on the command line, if the class has no such attribute.
    init(_ choices: [AttributeChoice], of itemClass: ItemClass) throws {
        self.init()
        for choice in choices {
            guard let rule = AttributeTable.table(for: itemClass)[choice.attribute] else {
                throw ValidationError("\(choice.option) says nothing about \(itemClass.indefinite).")
            }
            self[choice.attribute] = rule.kind.coerce(choice.value) ?? choice.value
        }
    }
}

extension ItemClass {
    fileprivate var indefinite: String {
        self == .internetPassword || self == .identity ? "an \(title)" : "a \(title)"
    }
}
