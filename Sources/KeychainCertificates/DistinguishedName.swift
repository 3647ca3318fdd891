package import FoundationEssentials
internal import SwiftASN1

/// An X.501 name is a list of parts from the most general to the most specific, as encoded. A part nearly always has one attribute.
package struct DistinguishedName: Sendable {
    /// Empty if the name is not whole.
    private let parts: [RelativeName]
    /// The content as encoded.
    private let content: ArraySlice<UInt8>
    /// The name in the form in which names of certificates are compared.
    let comparable: ComparableName
    /// Whether each part has attributes, and each attribute a value. Apple's systems read certificates with names that are not, and see none.
    let isWhole: Bool

    var attributes: [DistinguishedNameAttribute] { parts.flatMap(\.attributes) }
    var isEmpty: Bool { parts.isEmpty }

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
            guard isWhole else { return Data(content) }
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

    /// The normalized name with its header.
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
        let read = try DER.sequence(of: RelativeName.self, identifier: .sequence, rootNode: root)
        isWhole = read.allSatisfy { !$0.attributes.isEmpty && $0.attributes.allSatisfy(\.hasValue) }
        parts = isWhole ? read : []
        content = root.contentBytes
        comparable = ComparableName(
            isWhole ? parts.map { ComparableName.Part($0.attributes.map(\.comparable)) } : [.init([.unread(content)])])
    }
}

/// A name in the form in which RFC 5280 (section 7.1) compares names: neither the kind of a text nor its case and spacing matter.
///
/// Swift compares texts by their meaning, so that a letter with an accent may be one character or two.
struct ComparableName: Hashable, Sendable {
    let parts: [Part]
    /// A name is looked up often, and a stranger's may be long.
    private let hash: Int

    struct Part: Hashable, Sendable {
        private let attributes: Set<Attribute>
        private let hash: Int
        let byteCount: Int

        init(_ attributes: [Attribute]) {
            self.attributes = Set(attributes)
            (hash, byteCount) = (self.attributes.hashValue, attributes.reduce(0) { $0 + $1.byteCount })
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }

        static func == (one: Part, other: Part) -> Bool {
            one.hash == other.hash && one.attributes == other.attributes
        }
    }

    enum Attribute: Hashable {
        case text(ASN1ObjectIdentifier, String)
        case other(ASN1ObjectIdentifier, ArraySlice<UInt8>)
        /// The content of a whole name that is not whole.
        case unread(ArraySlice<UInt8>)

        fileprivate var byteCount: Int {
            switch self {
            case .text(_, let text): text.utf8.count
            case .other(_, let bytes), .unread(let bytes): bytes.count
            }
        }
    }

    init(_ parts: [Part]) { (self.parts, hash) = (parts, parts.hashValue) }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (one: ComparableName, other: ComparableName) -> Bool {
        one.hash == other.hash && one.parts == other.parts
    }
}

extension ASN1Node {
    /// The bytes behind the header.
    fileprivate var contentBytes: ArraySlice<UInt8> {
        switch content {
        case .primitive(let bytes): bytes
        case .constructed(let nodes): nodes.reduce(into: []) { $0 += $1.encodedBytes }[...]
        }
    }
}

/// One attribute, which is written in its normalized form.
struct DistinguishedNameAttribute: DERParseable, DERSerializable {
    let type: ASN1ObjectIdentifier
    /// The text is nil if the value is not text, or not text of the kind that it claims to be.
    let text: String?
    /// The value as encoded; nothing of an attribute without one.
    private let value: ArraySlice<UInt8>
    private let printable: ArraySlice<UInt8>?

    init(derEncoded root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            Self(try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next())
        }
    }

    private init(_ type: ASN1ObjectIdentifier, _ node: ASN1Node?) {
        self.type = type
        text = node.flatMap(Self.text)
        value = node?.encodedBytes ?? []
        if let node, node.identifier == .printableString, case .primitive(let bytes) = node.content {
            printable = bytes
        } else {
            printable = nil
        }
    }

    var hasValue: Bool { !value.isEmpty }

    func serialize(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(type)
            guard let printable else { return serializer.serializeRawBytes(value) }
            serializer.appendPrimitiveNode(identifier: .printableString) { $0 += Self.normalized(printable) }
        }
    }

    var comparable: ComparableName.Attribute {
        guard let text, Self.isQuicklyCompared(text) else { return .other(type, value) }
        return .text(type, text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    /// Texts in use are shorter, and have no more marks at a letter (30 in Unicode's format for streams). To compare others by their meaning
    /// takes a time that grows with the square of the marks.
    private static func isQuicklyCompared(_ text: String) -> Bool {
        guard text.utf8.count <= 4096 else { return false }
        var marks = 0
        return text.unicodeScalars.allSatisfy { scalar in
            let isMark = !scalar.isASCII && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isMark ? marks + 1 : 0
            return marks <= 30
        }
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

    init(derEncoded root: ASN1Node) throws {
        // Not in the order that DER gives a SET: certificates in the wild have any.
        attributes = try DER.sequence(of: DistinguishedNameAttribute.self, identifier: .set, rootNode: root)
    }
}

extension ASN1ObjectIdentifier {
    static let commonName: Self = [2, 5, 4, 3]
    static let organization: Self = [2, 5, 4, 10]
    static let organizationalUnit: Self = [2, 5, 4, 11]
    static let description: Self = [2, 5, 4, 13]
    static let emailAddress: Self = [1, 2, 840, 113549, 1, 9, 1]
}
