internal import SwiftASN1

/// Content with the name of its kind (RFC 2315, section 7), of which PKCS#7 and PKCS#12 are made.
struct ContentInfo {
    let type: ASN1ObjectIdentifier
    let content: ASN1Node?

    /// - Parameter root: BER. Some programs write elements whose end is marked, or texts in pieces.
    init(_ root: ASN1Node) throws {
        (type, content) = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            let content = try DER.optionalExplicitlyTagged(
                &nodes, tagNumber: 0, tagClass: .contextSpecific, { $0 })
            return (type, content)
        }
    }

    /// The bytes of content that is an OCTET STRING.
    var octets: ArraySlice<UInt8> {
        get throws {
            guard let content else { throw ASN1Error.invalidASN1Object(reason: "there is no content") }
            return try ASN1OctetString(berEncoded: content).bytes
        }
    }
}

extension ContentInfo {
    /// Writes bytes as an OCTET STRING.
    static func append(data bytes: [UInt8], to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            try serializer.serialize(ASN1ObjectIdentifier.pkcs7Data)
            try serializer.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) { serializer in
                try serializer.serialize(ASN1OctetString(contentBytes: bytes[...]))
            }
        }
    }
}

extension ASN1ObjectIdentifier {
    static let pkcs7Data: Self = [1, 2, 840, 113_549, 1, 7, 1]
    static let pkcs7SignedData: Self = [1, 2, 840, 113_549, 1, 7, 2]
    static let pkcs7EncryptedData: Self = [1, 2, 840, 113_549, 1, 7, 6]
}
