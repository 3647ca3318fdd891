public import Foundation
internal import KeychainModel

extension Keychain {
    /// The way in which values become bytes that are neither `String` nor `Data`. Those two are always their own bytes.
    ///
    /// ```swift
    /// keychain.coding = .propertyList
    /// ```
    ///
    /// The form is not stored with an item: a program that changes it cannot read its former values. Bytes on the way
    /// are ordinary memory, which is not erased.
    public struct Coding: Sendable {
        private let encode: @Sendable (any Encodable) throws -> Data
        private let decode: @Sendable (any Decodable.Type, Data) throws -> any Decodable

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
            self.encode = encode
            self.decode = decode
        }

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

        /// - Throws: `.parameter` if the value cannot be encoded.
        func secret(of value: some Encodable, for key: String) throws(KeychainError) -> SecretBytes {
            switch value {
            case let text as String: return SecretBytes(Data(text.utf8))
            case let data as Data: return SecretBytes(data)
            case let optional as any OptionalValue where optional.isNil:
                throw KeychainError(.parameter, message: "nil cannot be stored for \(key.quoted): remove it instead")
            default: break
            }
            do {
                return SecretBytes(try encode(value))
            } catch {
                // The encoder's own error is left out: it may hold the value.
                throw KeychainError(
                    .parameter, message: "a value of type \(type(of: value)) cannot be encoded for \(key.quoted)")
            }
        }

        /// - Throws: `.decode` if the bytes are no such value.
        func value<Value: Decodable>(
            _ type: Value.Type, of bytes: SecretBytes, for key: String
        ) throws(KeychainError) -> Value {
            // A value's type may be known only as a protocol, so the metatype of `Value` alone does not decide.
            if type is String.Type || type is String?.Type { return try bytes.text(for: key) as! Value }
            let data = bytes.copyData()
            if type is Data.Type || type is Data?.Type { return data as! Value }
            // The decoder's message may show a part of the value.
            guard let value = try? decode(type, data) as? Value else { throw .notReadable(key, as: type) }
            return value
        }
    }
}

private protocol OptionalValue {
    var isNil: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isNil: Bool { self == nil }
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
