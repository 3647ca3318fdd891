internal import Foundation
internal import SwiftASN1

/// An X.501 name is a list of attributes from the most general to the most specific, as encoded.
struct DistinguishedName: DERParseable {
    let attributes: [DistinguishedNameAttribute]

    init(derEncoded root: ASN1Node) throws {
        attributes = try DER.sequence(of: RelativeName.self, identifier: .sequence, rootNode: root)
            .flatMap(\.attributes)
    }

    /// The summary is the part of the name that tells a person most.
    var summary: String? {
        let preferred = [ASN1ObjectIdentifier.commonName, .organizationalUnit, .organization, .emailAddress]
        let texts = attributes.filter { $0.text?.isEmpty == false }
        let named = preferred.lazy.compactMap { type in texts.last { $0.type == type } }.first
        return (named ?? texts.last)?.text
    }
}

struct DistinguishedNameAttribute: DERParseable {
    let type: ASN1ObjectIdentifier
    /// The text is nil if the value is not text, or not text of the kind that it claims to be.
    let text: String?

    init(derEncoded root: ASN1Node) throws {
        (type, text) = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            guard let value = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "an attribute of a name has a value")
            }
            return (type, Self.text(of: value))
        }
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

/// A `RelativeDistinguishedName` is a set of attributes, and nearly always one attribute.
private struct RelativeName: DERParseable {
    let attributes: [DistinguishedNameAttribute]

    init(derEncoded root: ASN1Node) throws {
        attributes = try DER.set(of: DistinguishedNameAttribute.self, identifier: .set, rootNode: root)
        guard !attributes.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a part of a name has at least one attribute")
        }
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let commonName: Self = [2, 5, 4, 3]
    fileprivate static let organization: Self = [2, 5, 4, 10]
    fileprivate static let organizationalUnit: Self = [2, 5, 4, 11]
    fileprivate static let emailAddress: Self = [1, 2, 840, 113549, 1, 9, 1]
}
