internal import FoundationEssentials
internal import KeychainModel

// Attributes are written as pairs of lists, one pair for each type of value: the n-th code names the n-th value. One message for
// each attribute would read better and take three times as long, at every look-up.

extension AttributeSet {
    /// An item has some forty attributes. Each takes a few bytes in a message and many times as many in memory.
    static let mostInMessage = 128

    /// Writes the eight lists.
    ///
    /// - Parameter first: The number of the first one's field.
    func write(from first: Int, to message: inout MessageWriter) {
        func codes(_ isOfType: (AttributeValue) -> Bool) -> [AttributeCode] {
            entries.compactMap { isOfType($0.value) ? AttributeCode($0.attribute) : nil }
        }
        message.add(first, packed: codes { if case .text = $0 { true } else { false } })
        for case (_, .text(let text)) in entries { message.add(first + 1, ifAny: text) }
        message.add(first + 2, packed: codes { if case .data = $0 { true } else { false } })
        for case (_, .data(let data)) in entries { message.add(first + 3, ifAny: data) }
        message.add(first + 4, packed: codes { if case .number = $0 { true } else { false } })
        message.add(
            first + 5,
            packed: entries.compactMap { if case .number(let number) = $0.value { SignedNumber(number) } else { nil } })
        message.add(first + 6, packed: codes { if case .date = $0 { true } else { false } })
        message.add(
            first + 7, packed: entries.compactMap { if case .date(let date) = $0.value { date } else { nil } })
    }

    /// Attributes of an item, unknown ones too: a store of a newer version may have others.
    ///
    /// - Throws: `.parameter` for a code that has no value, a value that has no code, or too many.
    init(_ message: MessageReader, from first: Int) throws(KeychainError) {
        self.init()
        func read<Value>(
            _ offset: Int, _ values: [Value], _ make: (Value) -> AttributeValue
        ) throws(KeychainError) {
            let codes: [AttributeCode] = try message.packed(first + offset, most: Self.mostInMessage, "attributes")
            guard codes.count == values.count else {
                throw KeychainError(.parameter, message: "an attribute has no value, or a value no attribute")
            }
            for (code, value) in zip(codes, values) { append(code.attribute, make(value)) }
        }
        let most = Self.mostInMessage
        try read(0, try message.list(first + 1, most: most, "attributes") as [String]) { .text($0) }
        try read(2, try message.list(first + 3, most: most, "attributes") as [Data]) { .data($0) }
        try read(4, try message.packed(first + 5, most: most, "attributes") as [SignedNumber]) { .number($0.value) }
        try read(6, try message.packed(first + 7, most: most, "attributes") as [Double]) { .date($0) }
        guard count <= most else {
            throw KeychainError(.parameter, message: "the message has more than \(most) attributes")
        }
    }

    /// The attributes in a message of their own; nil: there are none.
    init(_ message: MessageReader?) throws(KeychainError) {
        guard let message else { self.init(); return }
        try self.init(message, from: 1)
    }

    /// Attributes of a request, in the form in which the class has them, as the engine needs them.
    ///
    /// - Throws: `.noSuchAttribute` for one that the class does not have, `.parameter` for a value that it cannot have,
    ///   or one that occurs twice.
    init(_ message: MessageReader?, of itemClass: ItemClass) throws(KeychainError) {
        self.init()
        let table = AttributeTable.table(for: itemClass)
        for (attribute, value) in try AttributeSet(message).entries {
            guard let rule = table[attribute] else {
                throw KeychainError(
                    .noSuchAttribute,
                    message: "a \(itemClass.title) has no attribute \(String(reflecting: attribute.name))")
            }
            guard let coerced = rule.kind.coerce(value) else {
                throw KeychainError(
                    .parameter, message: "the attribute \(attribute.name) cannot have a value of this type")
            }
            guard self[attribute] == nil else {
                throw KeychainError(.parameter, message: "the attribute \(attribute.name) is there twice")
            }
            append(attribute, coerced)
        }
    }
}

extension MessageWriter {
    /// Adds the attributes as a message of their own, or nothing if there are none.
    mutating func add(_ number: Int, _ attributes: AttributeSet) {
        if !attributes.isEmpty { add(number) { attributes.write(from: 1, to: &$0) } }
    }
}
