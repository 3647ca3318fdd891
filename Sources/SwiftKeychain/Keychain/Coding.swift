public import FoundationEssentials
internal import KeychainModel

extension Keychain {
    /// The way in which values become bytes. Texts and bytes themselves are always stored as they are: `String`, `Data`
    /// and `[UInt8]`.
    ///
    /// ```swift
    /// keychain.coding = .propertyList
    /// ```
    ///
    /// The form is not stored with an item: a program that changes it cannot read its former values. Bytes on the way
    /// are ordinary memory, which is not erased.
    public struct Coding: Sendable, Equatable {
        /// An object, so that copies are known as the same.
        private final class Functions: Sendable {
            let encode: @Sendable (any Encodable) throws -> Data
            let decode: @Sendable (any Decodable.Type, Data) throws -> any Decodable

            init(
                encode: @escaping @Sendable (any Encodable) throws -> Data,
                decode: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
            ) {
                self.encode = encode
                self.decode = decode
            }
        }
        private let functions: Functions

        /// Makes a coding of a program's own functions.
        ///
        /// ```swift
        /// let coding = Keychain.Coding { try encoder.encode($0) } decode: { try decoder.decode($0, from: $1) }
        /// ```
        ///
        /// - Parameters:
        ///   - encode: Makes the bytes of a value. An error makes the call throw `.parameter`. It may be called on any
        ///     thread.
        ///   - decode: Makes a value of a type. An error, or a value of another type, makes the call throw `.decode`.
        public init(
            encode: @escaping @Sendable (any Encodable) throws -> Data,
            decode: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
        ) {
            functions = Functions(encode: encode, decode: decode)
        }

        /// Whether one coding is a copy of the other.
        public static func == (one: Coding, other: Coding) -> Bool { one.functions === other.functions }

        /// JSON, as Foundation writes it, with sorted keys.
        public static let json = Coding {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode($0)
        } decode: {
            try JSONDecoder().decode($0, from: $1)
        }

        /// A binary property list. A number or a text alone is no property list, and storing it throws `.parameter`.
        public static let propertyList = Coding {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return try encoder.encode($0)
        } decode: {
            try PropertyListDecoder().decode($0, from: $1)
        }

        /// The bytes of a value that is `Encodable` or a ``KeychainSlice``.
        ///
        /// - Returns: nil if the value is nil, which may show only when the program runs.
        /// - Throws: `.parameter` if the value cannot be encoded.
        func secret(of value: Any?, for key: String) throws(KeychainError) -> SecretBytes? {
            guard let value = valueInside(value) else { return nil }
            switch value {
            case let text as String: return SecretBytes(Data(text.utf8))
            case let text as Substring: return SecretBytes(Data(text.utf8))
            case let data as Data: return SecretBytes(data)
            case let bytes as any Bytes: return SecretBytes(bytes)
            default: break
            }
            // The encoder's own error is left out: it may hold the value.
            guard let encodable = value as? any Encodable, let encoded = try? functions.encode(encodable) else {
                throw KeychainError(
                    .parameter, message: "a value of type \(type(of: value)) cannot be encoded for \(key.quoted)")
            }
            return SecretBytes(encoded)
        }

        /// - Throws: `.decode` if the bytes are no such value.
        func value<Value: Decodable>(
            _ type: Value.Type, of bytes: SecretBytes, for key: String
        ) throws(KeychainError) -> Value {
            // A value's type may be known only as a protocol, so the metatype of `Value` alone does not decide.
            let wanted = typeInside(type)
            if wanted is String.Type { return try bytes.text(for: key) as! Value }
            let data = bytes.copyData()
            if wanted is Data.Type { return data as! Value }
            if let bytes = wanted as? any Bytes.Type { return bytes.init(data) as! Value }
            // The decoder's message may show a part of the value.
            guard let wanted = wanted as? any Decodable.Type, let value = try? functions.decode(wanted, data) as? Value
            else { throw .notReadable(key, as: type) }
            return value
        }
    }
}

/// A part of a text or of bytes, which a keychain stores as it stores the whole: `Substring` and `ArraySlice<UInt8>`.
///
/// A program does not add others: storing them throws `.parameter`.
public protocol KeychainSlice: Sendable {}

extension Substring: KeychainSlice {}

extension ArraySlice: KeychainSlice where Element == UInt8 {}

/// Arrays of bytes. A cast would take any empty array for one of bytes, and a conformance does not.
private protocol Bytes: ContiguousBytes {
    init(_ bytes: Data)
}

extension Array: Bytes where Element == UInt8 {}
extension ContiguousArray: Bytes where Element == UInt8 {}
extension ArraySlice: Bytes where Element == UInt8 {}

// MARK: Optional values

private protocol OptionalValue {
    static var wrapped: any Any.Type { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
    fileprivate var wrapped: Any? { self }
    /// Whether it is nil, or holds a value that is.
    var isNothing: Bool { valueInside(self) == nil }
}

/// The value inside of any number of optional values, whether the compiler knows of them or not.
private func valueInside(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard let optional = value as? any OptionalValue else { return value }
    return valueInside(optional.wrapped)
}

private func typeInside(_ type: any Any.Type) -> any Any.Type {
    guard let optional = type as? any OptionalValue.Type else { return type }
    return typeInside(optional.wrapped)
}

extension KeychainError {
    static func notReadable(_ key: String, as type: any Any.Type) -> KeychainError {
        KeychainError(.decode, message: "what is stored for \(key.quoted) is no \(type)")
    }
}

extension String {
    /// The text for a message, on one line.
    var quoted: String { String(reflecting: self) }
}
