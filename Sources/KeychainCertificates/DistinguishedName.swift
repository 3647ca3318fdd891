package import Foundation
internal import SwiftASN1

/// An X.501 name is a list of parts from the most general to the most specific, as encoded. A part nearly always has one attribute.
package struct DistinguishedName: Sendable {
    private let parts: [RelativeName]

    var attributes: [DistinguishedNameAttribute] { parts.flatMap(\.attributes) }

    /// Whether the name begins with all parts of another, as texts of any case and spacing.
    func isWithin(_ base: DistinguishedName) -> Bool {
        base.parts.count <= parts.count && zip(base.parts, parts).allSatisfy { $0.folded == $1.folded }
    }

    /// The common names, in their order.
    package var commonNames: [String] { texts(of: .commonName) }

    /// The texts of an attribute, in their order.
    func texts(of type: ASN1ObjectIdentifier) -> [String] {
        attributes.filter { $0.type == type }.compactMap(\.text).filter { !$0.isEmpty }
    }

    /// The texts of attributes of other types, in their order.
    func texts(besides types: Set<ASN1ObjectIdentifier>) -> [String] {
        attributes.filter { !types.contains($0.type) }.compactMap(\.text).filter { !$0.isEmpty }
    }

    /// The name's content, without the header of its SEQUENCE, in the form in which names are compared: printable texts in capital letters
    /// and with single blanks, all else as it is. Apple's keychain compares so; RFC 5280 has more rules.
    package var normalizedContent: Data {
        get throws {
            var serializer = DER.Serializer()
            for part in parts {
                try serializer.appendConstructedNode(identifier: .set) { serializer in
                    for attribute in part.attributes { try serializer.serialize(attribute) }
                }
            }
            return Data(serializer.serializedBytes)
        }
    }

    /// - Returns: nil for bytes that are no name with its header.
    package static func normalizedContent(of sequence: Data) -> Data? {
        guard sequence.first == 0x30, let root = try? DER.parse(Array(sequence)) else { return nil }
        return try? DistinguishedName(derEncoded: root).normalizedContent
    }

    /// The same with the header.
    package var normalizedSequence: Data {
        get throws {
            let content = try normalizedContent
            var serializer = DER.Serializer()
            serializer.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(content) }
            return Data(serializer.serializedBytes)
        }
    }
}

extension DistinguishedName: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        parts = try DER.sequence(of: RelativeName.self, identifier: .sequence, rootNode: root)
    }
}

/// One attribute, which is written in its normalized form.
struct DistinguishedNameAttribute: DERParseable, DERSerializable {
    let type: ASN1ObjectIdentifier
    /// The text is nil if the value is not text, or not text of the kind that it claims to be.
    let text: String?
    /// The value as encoded.
    private let value: ArraySlice<UInt8>
    private let printable: ArraySlice<UInt8>?

    init(derEncoded root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            guard let value = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "an attribute of a name has a value")
            }
            return Self(type, value)
        }
    }

    private init(_ type: ASN1ObjectIdentifier, _ node: ASN1Node) {
        self.type = type
        text = Self.text(of: node)
        value = node.encodedBytes
        if node.identifier == .printableString, case .primitive(let bytes) = node.content {
            printable = bytes
        } else {
            printable = nil
        }
    }

    func serialize(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(type)
            guard let printable else { return serializer.serializeRawBytes(value) }
            serializer.appendPrimitiveNode(identifier: .printableString) { $0 += Self.normalized(printable) }
        }
    }

    /// The type and the value, in which neither the kind of text nor its case and spacing matter.
    var folded: [UInt8] {
        let words = text?.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return Array("\(type) ".utf8) + (words.map { Array($0.utf8) } ?? Array(value))
    }

    private static func normalized(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let words = bytes.split(separator: UInt8(ascii: " "))
        let capitals = words.map { $0.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 ? $0 - 0x20 : $0 } }
        return Array(capitals.joined(separator: [UInt8(ascii: " ")]))
    }

    private static func text(of node: ASN1Node) -> String? {
        guard case .primitive(let bytes) = node.content, let encoding = encodings[node.identifier] else {
            return nil
        }
        return String(data: Data(bytes), encoding: encoding)
    }

    private static let encodings: [ASN1Identifier: String.Encoding] = [
        .utf8String: .utf8, .printableString: .ascii, .ia5String: .ascii, .numericString: .ascii,
        .visibleString: .ascii, .teletexString: .isoLatin1, .bmpString: .utf16BigEndian,
        .universalString: .utf32BigEndian,
    ]
}

private struct RelativeName: DERParseable {
    let attributes: [DistinguishedNameAttribute]

    var folded: Set<[UInt8]> { Set(attributes.map(\.folded)) }

    init(derEncoded root: ASN1Node) throws {
        // Not in the order that DER gives a SET: certificates in the wild have any.
        attributes = try DER.sequence(of: DistinguishedNameAttribute.self, identifier: .set, rootNode: root)
        guard !attributes.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a part of a name has at least one attribute")
        }
    }
}

extension ASN1ObjectIdentifier {
    static let commonName: Self = [2, 5, 4, 3]
    static let organization: Self = [2, 5, 4, 10]
    static let organizationalUnit: Self = [2, 5, 4, 11]
    static let description: Self = [2, 5, 4, 13]
    static let emailAddress: Self = [1, 2, 840, 113549, 1, 9, 1]
}
