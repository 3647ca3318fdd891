package import FoundationEssentials
internal import SwiftASN1

/// One of the things in a PKCS#12 file (RFC 7292, section 4.2), with its name and the number that pairs it with others.
struct SafeBag {
    let type: ASN1ObjectIdentifier
    let value: ASN1Node
    let mark: PKCS12Mark

    init(_ root: ASN1Node) throws {
        (type, value, mark) = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            let value = try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific, { $0 })
            return (type, value, try nodes.next().map { try PKCS12Mark($0) } ?? PKCS12Mark())
        }
    }
}

/// The attributes of a key or a certificate in a PKCS#12 file.
package struct PKCS12Mark: Sendable, Hashable {
    /// The name for people.
    package var name: String?
    /// The identifier that a key and its certificate have in common.
    package var identifier: Data?

    package init(name: String? = nil, identifier: Data? = nil) { (self.name, self.identifier) = (name, identifier) }

    /// - Parameter root: A SET of attributes, of which others are passed over.
    init(_ root: ASN1Node) throws {
        guard root.identifier == .set, case .constructed(let attributes) = root.content else {
            throw ASN1Error.unexpectedFieldType(root.identifier)
        }
        for attribute in attributes {
            try DER.sequence(attribute, identifier: .sequence) { nodes in
                let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
                guard let set = nodes.next(), set.identifier == .set, case .constructed(let values) = set.content else {
                    throw ASN1Error.invalidASN1Object(reason: "an attribute has a set of values")
                }
                var iterator = values.makeIterator()
                guard let value = iterator.next() else { return }
                if type == .localKeyIdentifier { identifier = Data(try ASN1OctetString(berEncoded: value).bytes) }
                // A name is for people, and no file is refused for one.
                if type == .friendlyName, case .primitive(let bytes) = value.content {
                    name = String(data: Data(bytes), encoding: .utf16BigEndian)
                }
            }
        }
    }

    func append(to serializer: inout DER.Serializer) throws {
        if name == nil && identifier == nil { return }
        try serializer.appendConstructedNode(identifier: .set) { serializer in
            if let name {
                let bytes = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
                try Self.append(.friendlyName, to: &serializer) { serializer in
                    serializer.appendPrimitiveNode(identifier: .bmpString) { $0 += bytes }
                }
            }
            if let identifier {
                try Self.append(.localKeyIdentifier, to: &serializer) { serializer in
                    try serializer.serialize(ASN1OctetString(contentBytes: Array(identifier)[...]))
                }
            }
        }
    }

    private static func append(
        _ type: ASN1ObjectIdentifier, to serializer: inout DER.Serializer,
        _ value: (inout DER.Serializer) throws -> Void
    ) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(type)
            try serializer.appendConstructedNode(identifier: .set) { try value(&$0) }
        }
    }
}

extension ASN1ObjectIdentifier {
    static let keyBag: Self = [1, 2, 840, 113_549, 1, 12, 10, 1, 1]
    static let shroudedKeyBag: Self = [1, 2, 840, 113_549, 1, 12, 10, 1, 2]
    static let certificateBag: Self = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    static let safeContentsBag: Self = [1, 2, 840, 113_549, 1, 12, 10, 1, 6]
    /// The kind of certificate in a certificate bag; the other kind, SDSI, is not in use.
    static let x509CertificateInBag: Self = [1, 2, 840, 113_549, 1, 9, 22, 1]
    fileprivate static let friendlyName: Self = [1, 2, 840, 113_549, 1, 9, 20]
    fileprivate static let localKeyIdentifier: Self = [1, 2, 840, 113_549, 1, 9, 21]
}
