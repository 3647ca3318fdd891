internal import SwiftASN1

/// The structure has the fields that are used of a certificate (RFC 5280, section 4.1).
///
/// Reading a certificate checks the form of every field.
struct X509Certificate: DERParseable {
    /// The bytes are the content of the serial number's integer.
    let serialNumber: ArraySlice<UInt8>
    let subject: DistinguishedName

    init(derEncoded root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in
            let signed = try SignedPart(derEncoded: &nodes)
            let algorithm = try AlgorithmIdentifier(derEncoded: &nodes)
            _ = try ASN1BitString(derEncoded: &nodes)
            guard algorithm == signed.algorithm else {
                throw ASN1Error.invalidASN1Object(reason: "the certificate names two signature algorithms")
            }
            return X509Certificate(signed)
        }
    }

    private init(_ signed: SignedPart) {
        serialNumber = signed.serialNumber
        subject = signed.subject
    }
}

/// The signed part of a certificate is called `tbsCertificate` in RFC 5280.
private struct SignedPart: DERParseable {
    let serialNumber: ArraySlice<UInt8>
    let algorithm: AlgorithmIdentifier
    let subject: DistinguishedName

    init(derEncoded root: ASN1Node) throws {
        self = try DER.sequence(root, identifier: .sequence) { nodes in try SignedPart(fields: &nodes) }
    }

    private init(fields nodes: inout ASN1NodeCollection.Iterator) throws {
        try Self.checkVersion(&nodes)
        serialNumber = try Self.serialNumber(&nodes)
        algorithm = try AlgorithmIdentifier(derEncoded: &nodes)
        _ = try DistinguishedName(derEncoded: &nodes)  // the issuer
        _ = try Validity(derEncoded: &nodes)
        subject = try DistinguishedName(derEncoded: &nodes)
        _ = try PublicKeyInfo(derEncoded: &nodes)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 1)
        try Self.checkUniqueIdentifier(&nodes, tagNumber: 2)
        _ = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 3, tagClass: .contextSpecific, Extensions.init)
    }

    /// Accepts no version, or the number of X.509 version 1, 2 or 3.
    private static func checkVersion(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        let version = try DER.optionalExplicitlyTagged(
            &nodes, tagNumber: 0, tagClass: .contextSpecific, Int.init(derEncoded:))
        guard (0...2).contains(version ?? 0) else {
            throw ASN1Error.invalidASN1Object(reason: "there is no such version of X.509")
        }
    }

    private static func serialNumber(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ArraySlice<UInt8> {
        guard let node = nodes.next(), node.identifier == .integer, case .primitive(let content) = node.content,
            !content.isEmpty
        else {
            throw ASN1Error.invalidASN1Object(reason: "the serial number of a certificate is an integer")
        }
        return content
    }

    private static func checkUniqueIdentifier(
        _ nodes: inout ASN1NodeCollection.Iterator, tagNumber: UInt
    ) throws {
        let tag = ASN1Identifier(tagWithNumber: tagNumber, tagClass: .contextSpecific)
        let _: ASN1BitString? = try DER.optionalImplicitlyTagged(&nodes, tag: tag)
    }
}

private struct AlgorithmIdentifier: DERParseable, Equatable {
    let algorithm: ASN1ObjectIdentifier
    let parameters: ASN1Any?

    init(derEncoded root: ASN1Node) throws {
        (algorithm, parameters) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next().map(ASN1Any.init(derEncoded:)))
        }
    }
}

private struct Validity: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        try DER.sequence(root, identifier: .sequence) { nodes in
            try Self.checkTime(nodes.next())
            try Self.checkTime(nodes.next())
        }
    }

    private static func checkTime(_ node: ASN1Node?) throws {
        switch node?.identifier {
        case .utcTime?: _ = try node.map(UTCTime.init(derEncoded:))
        case .generalizedTime?: _ = try node.map(GeneralizedTime.init(derEncoded:))
        default: throw ASN1Error.invalidASN1Object(reason: "the validity of a certificate is two times")
        }
    }
}

private struct PublicKeyInfo: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        try DER.sequence(root, identifier: .sequence) { nodes in
            _ = try AlgorithmIdentifier(derEncoded: &nodes)
            _ = try ASN1BitString(derEncoded: &nodes)
        }
    }
}

private struct Extensions: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        let extensions = try DER.sequence(of: Extension.self, identifier: .sequence, rootNode: root)
        guard !extensions.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a list of extensions has at least one")
        }
    }
}

private struct Extension: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        try DER.sequence(root, identifier: .sequence) { nodes in
            _ = try ASN1ObjectIdentifier(derEncoded: &nodes)
            // DER leaves out the default, false; certificates in the wild spell it out all the same.
            let _: Bool? = try DER.optionalImplicitlyTagged(&nodes)
            _ = try ASN1OctetString(derEncoded: &nodes)
        }
    }
}
