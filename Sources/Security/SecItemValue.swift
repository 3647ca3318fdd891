internal import Foundation
internal import KeychainModel

/// Reads the values of a dictionary, which may be Swift values or Foundation objects.
enum SecItemValue {
    /// The value in the form an attribute of this kind has.
    ///
    /// - Throws: `.parameter` if it has none.
    static func attribute(
        _ attribute: Attribute, _ kind: AttributeKind, from value: Any
    ) throws(KeychainError) -> AttributeValue {
        guard let coerced = untyped(value, for: kind).flatMap(kind.coerce) else {
            throw wrongType("the attribute \(attribute)", value)
        }
        return coerced
    }

    static func text(_ name: String, _ value: Any) throws(KeychainError) -> String {
        guard case .text(let text)? = untyped(value, for: .string).flatMap(AttributeKind.string.coerce) else {
            throw wrongType(name, value)
        }
        return text
    }

    static func date(_ name: String, _ value: Any) throws(KeychainError) -> Double {
        guard let date = value as? Date else { throw wrongType(name, value) }
        return date.timeIntervalSinceReferenceDate
    }

    /// A Boolean object; a number does not pass for one, as in Apple's keychain.
    static func boolean(_ name: String, _ value: Any) throws(KeychainError) -> Bool {
        guard type(of: value) == Bool.self, let boolean = value as? Bool else { throw wrongType(name, value) }
        return boolean
    }

    static func synchronizable(_ value: Any) throws(KeychainError) -> ItemQuery.Synchronizable {
        switch untyped(value, for: .number).flatMap(AttributeKind.number.coerce) {
        case .number(0): return .no
        case .number(1): return .yes
        case .text("syna"): return .any
        default: throw wrongType("the attribute \(Attribute.synchronizable)", value)
        }
    }

    static func wrongType(_ name: String, _ value: Any) -> KeychainError {
        KeychainError(.parameter, message: "\(name) cannot have a value of type \(type(of: value))")
    }

    private static func untyped(_ value: Any, for kind: AttributeKind) -> AttributeValue? {
        switch value {
        case let text as String: .text(text)
        case let data as Data: .data(data)
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let number as NSNumber: integer(number).map { .number($0) }
        case let identifier as UUID where kind == .string: .text(identifier.uuidString)
        default: nil
        }
    }

    /// nil for a fraction or a number beyond 64 bits: no attribute holds one.
    static func integer(_ number: NSNumber) -> Int64? {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): Int64(exactly: number.doubleValue)
        case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value)
        default: number.int64Value
        }
    }
}
