internal import Foundation

extension WireAttributes {
    init(_ attributes: AttributeSet) {
        self.init()
        // Most attributes are texts.
        textCodes.reserveCapacity(attributes.count)
        texts.reserveCapacity(attributes.count)
        for (attribute, value) in attributes.entries {
            switch value {
            case .text(let text):
                textCodes.append(attribute.rawValue)
                texts.append(text)
            case .data(let data):
                dataCodes.append(attribute.rawValue)
                datas.append(data)
            case .number(let number):
                numberCodes.append(attribute.rawValue)
                numbers.append(number)
            case .date(let seconds):
                dateCodes.append(attribute.rawValue)
                dates.append(seconds)
            }
        }
    }

    /// - Throws: `.parameter` if a code has no value or a value no code.
    fileprivate func forEach<E: Error>(
        _ body: (Attribute, AttributeValue) throws(E) -> Void
    ) throws(E) {
        for (code, text) in zip(textCodes, texts) { try body(Attribute(rawValue: code), .text(text)) }
        for (code, data) in zip(dataCodes, datas) { try body(Attribute(rawValue: code), .data(data)) }
        for (code, number) in zip(numberCodes, numbers) { try body(Attribute(rawValue: code), .number(number)) }
        for (code, date) in zip(dateCodes, dates) { try body(Attribute(rawValue: code), .date(date)) }
    }

    fileprivate func requirePairs() throws(KeychainError) {
        guard textCodes.count == texts.count, dataCodes.count == datas.count, numberCodes.count == numbers.count,
            dateCodes.count == dates.count
        else { throw KeychainError(.parameter, message: "an attribute has no value, or a value no attribute") }
    }

    fileprivate var count: Int { textCodes.count + dataCodes.count + numberCodes.count + dateCodes.count }
}

extension AttributeSet {
    /// Attributes of an item, whatever they are: a store of a newer version may have others.
    ///
    /// - Throws: `.parameter` if a code has no value or a value no code.
    init(_ wire: WireAttributes) throws(KeychainError) {
        try wire.requirePairs()
        self.init(capacity: wire.count)
        wire.forEach { append($0, $1) }
    }

    /// Attributes of a request, in the form in which the class has them, as the engine needs them.
    ///
    /// - Throws: `.noSuchAttribute` for one that the class does not have, `.parameter` for a value that it cannot have,
    ///   or one that occurs twice.
    init(_ wire: WireAttributes, of itemClass: ItemClass) throws(KeychainError) {
        try wire.requirePairs()
        let table = AttributeTable.table(for: itemClass)
        self.init()
        try wire.forEach { attribute, value throws(KeychainError) in
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
