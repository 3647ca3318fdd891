internal import Foundation
internal import KeychainModel

/// Reads the values of a dictionary as the objects they are.
///
/// Foundation's own bridging of an `NSData` costs 60 ns for each byte on Linux (docs/performance.md), so nothing here
/// casts an object to `Data`.
enum SecItemValue {
    /// Returns the entries of a dictionary, whose objects are not bridged.
    static func entries(of dictionary: NSDictionary) throws(KeychainError) -> [(name: String, value: AnyObject)] {
        // Both come in the order of the dictionary's one storage.
        let (keys, values) = (dictionary.allKeys, dictionary.allValues)
        var entries: [(name: String, value: AnyObject)] = []
        entries.reserveCapacity(keys.count)
        // Casts of class references cost a fifth of casts of an Any.
        for (key, value) in zip(keys, values) { entries.append((try name(key as AnyObject), value as AnyObject)) }
        return entries
    }

    /// - Throws: `.noSuchAttribute` for a number, which Apple's keychain takes for an attribute that it does not know.
    private static func name(_ key: AnyObject) throws(KeychainError) -> String {
        if let name = text(key) { return name }
        throw key is NSNumber
            ? KeychainError(.noSuchAttribute, message: "a key of the dictionary is a number")
            : KeychainError(.parameter, message: "a key of the dictionary has the type \(type(of: key))")
    }

    static func text(_ value: AnyObject) -> String? { (value as? NSString).map { $0 as String } }

    static func data(_ value: AnyObject) -> Data? {
        (value as? NSData).map { Data(bytes: $0.bytes, count: $0.length) }
    }

    /// Copies the secret's bytes, once.
    ///
    /// - Throws: `.parameter` for anything but data, a text among it, as Apple's keychain does.
    static func secret(_ value: AnyObject) throws(KeychainError) -> SecretBytes {
        guard let data = value as? NSData else { throw wrongType("kSecValueData", value) }
        return withExtendedLifetime(data) {
            SecretBytes(copying: UnsafeRawBufferPointer(start: data.bytes, count: data.length))
        }
    }

    /// Returns the value in the form that an attribute of this kind has.
    ///
    /// - Throws: `.parameter` if the value has no such form.
    static func attribute(
        _ attribute: Attribute, _ kind: AttributeKind, from value: AnyObject
    ) throws(KeychainError) -> AttributeValue {
        guard let coerced = untyped(value, for: kind).flatMap(kind.coerce) else {
            throw wrongType("the attribute \(attribute.name)", value)
        }
        return coerced
    }

    static func text(_ name: String, _ value: AnyObject) throws(KeychainError) -> String {
        guard case .text(let text)? = untyped(value, for: .string).flatMap(AttributeKind.string.coerce) else {
            throw wrongType(name, value)
        }
        return text
    }

    static func date(_ name: String, _ value: AnyObject) throws(KeychainError) -> Double {
        guard let date = value as? NSDate else { throw wrongType(name, value) }
        guard date.timeIntervalSinceReferenceDate.isFinite else {
            throw KeychainError(.parameter, message: "\(name) is no moment")
        }
        return date.timeIntervalSinceReferenceDate
    }

    /// - Throws: `.parameter` for a date that calendars do not show.
    static func expiry(_ value: AnyObject) throws(KeychainError) -> ItemExpiry {
        if value is NSNull { return .never }
        return try .at(seconds: date("kSecAttrExpirationDate", value))
    }

    /// Reads a Boolean object, and takes no number for one, as Apple's keychain does.
    static func boolean(_ name: String, _ value: AnyObject) throws(KeychainError) -> Bool {
        guard let number = value as? NSNumber, isBoolean(number) else { throw wrongType(name, value) }
        return number.boolValue
    }

    private static let booleanClass: AnyClass = type(of: NSNumber(value: true))

    /// Foundation gives its two Booleans a class of their own.
    static func isBoolean(_ number: NSNumber) -> Bool { type(of: number) == booleanClass }

    static func synchronizable(_ value: AnyObject) throws(KeychainError) -> ItemQuery.Synchronizable {
        switch untyped(value, for: .number).flatMap(AttributeKind.number.coerce) {
        case .number(0): return .no
        case .number(1): return .yes
        case .text("syna"): return .any
        default: throw wrongType("the attribute kSecAttrSynchronizable", value)
        }
    }

    static func wrongType(_ name: String, _ value: AnyObject) -> KeychainError {
        KeychainError(.parameter, message: "\(name) cannot have a value of type \(type(of: value))")
    }

    private static func untyped(_ value: AnyObject, for kind: AttributeKind) -> AttributeValue? {
        switch value {
        case let text as NSString: .text(text as String)
        case let data as NSData: .data(Data(bytes: data.bytes, count: data.length))
        case let number as NSNumber: integer(number).map { .number($0) }
        case let date as NSDate: .date(date.timeIntervalSinceReferenceDate)
        case let identifier as NSUUID where kind == .string: .text(identifier.uuidString)
        default: nil
        }
    }

    /// Returns nil for a fraction or a number beyond 64 bits, since no attribute holds one.
    static func integer(_ number: NSNumber) -> Int64? {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): Int64(exactly: number.doubleValue)
        case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value)
        default: number.int64Value
        }
    }
}
