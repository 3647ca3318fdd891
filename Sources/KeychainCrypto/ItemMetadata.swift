package import Foundation
package import KeychainModel
internal import KeychainSystem
internal import SwiftProtobuf

/// Everything an item says about itself except its secret.
package struct ItemMetadata: Sendable {
    package var accessGroup: String
    package var synchronizable: Bool
    /// Seconds since 2001-01-01 00:00 UTC.
    package var created: Double
    package var modified: Double
    /// The authentication tag of the row's secret half, nil if it has none: neither its removal nor another version
    /// of it passes unnoticed.
    package var secretTag: Data?
    package var attributes: AttributeSet

    package init(
        accessGroup: String, synchronizable: Bool, created: Double, modified: Double, secretTag: Data? = nil,
        attributes: AttributeSet
    ) {
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.created = created
        self.modified = modified
        self.secretTag = secretTag
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
        wire.secretTag = secretTag ?? Data()
        for (attribute, value) in attributes.entries { wire.append(attribute, value) }
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
        let attributes = try AttributeSet(wire)
        self.init(
            accessGroup: wire.accessGroup, synchronizable: wire.synchronizable, created: wire.created,
            modified: wire.modified, secretTag: wire.secretTag.isEmpty ? nil : wire.secretTag, attributes: attributes)
    }
}

extension WireItemMetadata {
    fileprivate mutating func append(_ attribute: Attribute, _ value: AttributeValue) {
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

extension AttributeSet {
    /// - Throws: `.decode` if a code has no value or a value no code.
    fileprivate init(_ wire: WireItemMetadata) throws(KeychainError) {
        guard wire.textCodes.count == wire.texts.count, wire.dataCodes.count == wire.datas.count,
            wire.numberCodes.count == wire.numbers.count, wire.dateCodes.count == wire.dates.count
        else { throw KeychainError(.decode, message: "an attribute of a stored item has no value") }
        self.init()
        for (code, text) in zip(wire.textCodes, wire.texts) { append(Attribute(rawValue: code), .text(text)) }
        for (code, data) in zip(wire.dataCodes, wire.datas) { append(Attribute(rawValue: code), .data(data)) }
        for (code, number) in zip(wire.numberCodes, wire.numbers) { append(Attribute(rawValue: code), .number(number)) }
        for (code, date) in zip(wire.dateCodes, wire.dates) { append(Attribute(rawValue: code), .date(date)) }
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
