internal import CKeychainLinux
package import Foundation
package import KeychainModel
internal import SwiftProtobuf

/// Everything an item says about itself except its secret.
package struct ItemMetadata: Sendable {
    package var accessGroup: String
    package var synchronizable: Bool
    /// Seconds since 2001-01-01 00:00 UTC.
    package var created: Double
    package var modified: Double
    /// Whether the row has a secret half, so that its removal does not pass for an item without one.
    package var hasSecret: Bool
    package var attributes: AttributeSet

    package init(
        accessGroup: String, synchronizable: Bool, created: Double, modified: Double, hasSecret: Bool,
        attributes: AttributeSet
    ) {
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.created = created
        self.modified = modified
        self.hasSecret = hasSecret
        self.attributes = attributes
    }
}

extension ItemMetadata {
    package func encoded() throws(KeychainError) -> Data {
        var wire = WireItemMetadata()
        wire.accessGroup = accessGroup
        wire.synchronizable = synchronizable
        wire.created = created
        wire.modified = modified
        wire.hasSecret_p = hasSecret
        wire.attributes = attributes.entries.map { entry in
            var attribute = WireItemAttribute()
            attribute.code = entry.attribute.rawValue
            attribute.value = WireItemAttribute.OneOf_Value(entry.value)
            return attribute
        }
        do {
            return try wire.serializedBytes()
        } catch {
            throw KeychainError(.internalFailure, message: "the item's attributes could not be encoded", cause: error)
        }
    }

    /// - Throws: `.decode` for bytes that ``encoded()`` did not make.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        let wire: WireItemMetadata
        do {
            wire = try WireItemMetadata(serializedBytes: Data(lending: bytes))
        } catch {
            throw KeychainError(.decode, message: "the attributes of a stored item are not readable", cause: error)
        }
        var attributes = AttributeSet()
        for entry in wire.attributes {
            guard let value = entry.value else {
                throw KeychainError(.decode, message: "an attribute of a stored item has no value")
            }
            attributes[Attribute(rawValue: entry.code)] = AttributeValue(value)
        }
        self.init(
            accessGroup: wire.accessGroup, synchronizable: wire.synchronizable, created: wire.created,
            modified: wire.modified, hasSecret: wire.hasSecret_p, attributes: attributes)
    }
}

extension WireItemAttribute.OneOf_Value {
    fileprivate init(_ value: AttributeValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .data(let data): self = .data(data)
        case .number(let number): self = .number(number)
        case .date(let seconds): self = .date(seconds)
        }
    }
}

extension AttributeValue {
    fileprivate init(_ wire: WireItemAttribute.OneOf_Value) {
        switch wire {
        case .text(let text): self = .text(text)
        case .data(let data): self = .data(data)
        case .number(let number): self = .number(number)
        case .date(let seconds): self = .date(seconds)
        }
    }
}

extension Data {
    /// The same bytes without a copy, for no longer than they are valid: a copy would not be erased.
    fileprivate init(lending bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { self.init(); return }
        self.init(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    }
}
