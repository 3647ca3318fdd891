internal import Foundation
internal import SwiftASN1

/// The extensions of a certificate (RFC 5280, section 4.2).
struct CertificateExtensions: DERParseable {
    private let all: [CertificateExtension]

    init() { all = [] }

    /// - Throws: for a list without any, and for a critical extension that is known here and is not what it should be.
    init(derEncoded root: ASN1Node) throws {
        all = try DER.sequence(of: CertificateExtension.self, identifier: .sequence, rootNode: root)
        guard !all.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a list of extensions has at least one")
        }
        for known in all where known.isCritical { try Self.check(known) }
    }

    private static func check(_ known: CertificateExtension) throws {
        switch known.type {
        case .basicConstraints: _ = try known.parse(BasicConstraints.self)
        case .keyUsage: _ = try known.parse(ASN1BitString.self)
        case .subjectAlternativeName: _ = try known.parse(AlternativeNames.self)
        case .extendedKeyUsage: _ = try known.parse(ExtendedKeyUsage.self)
        default: break
        }
    }

    /// The first extension of a type; nil if there is none, or if it is not what it should be.
    private func first<Content: DERParseable>(_ type: ASN1ObjectIdentifier, _ content: Content.Type) -> Content? {
        all.first { $0.type == type }.flatMap { try? $0.parse(content) }
    }

    var subjectKeyIdentifier: Data? {
        first(.subjectKeyIdentifier, ASN1OctetString.self).map { Data($0.bytes) }
    }

    var alternativeNames: AlternativeNames? { first(.subjectAlternativeName, AlternativeNames.self) }
}

struct CertificateExtension: DERParseable {
    let type: ASN1ObjectIdentifier
    let isCritical: Bool
    let content: ASN1OctetString

    init(derEncoded root: ASN1Node) throws {
        (type, isCritical, content) = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            // DER leaves out the default, false; certificates in the wild spell it out all the same.
            let isCritical: Bool? = try DER.optionalImplicitlyTagged(&nodes)
            return (type, isCritical ?? false, try ASN1OctetString(derEncoded: &nodes))
        }
    }

    func parse<Content: DERParseable>(_ content: Content.Type) throws -> Content {
        try Content(derEncoded: DER.parse(self.content.bytes))
    }
}

struct BasicConstraints: DERParseable {
    let isAuthority: Bool
    let mostIntermediates: Int?

    init(derEncoded root: ASN1Node) throws {
        (isAuthority, mostIntermediates) = try DER.sequence(root, identifier: .sequence) { nodes in
            let isAuthority: Bool? = try DER.optionalImplicitlyTagged(&nodes)
            let most: Int? = try DER.optionalImplicitlyTagged(&nodes)
            return (isAuthority ?? false, most)
        }
    }
}

struct ExtendedKeyUsage: DERParseable {
    let purposes: [ASN1ObjectIdentifier]

    init(derEncoded root: ASN1Node) throws {
        purposes = try DER.sequence(of: ASN1ObjectIdentifier.self, identifier: .sequence, rootNode: root)
    }
}

/// The names of a subject besides its distinguished one. Kinds that are not used here are passed over.
struct AlternativeNames: DERParseable {
    private(set) var emailAddresses: [String] = []
    private(set) var hosts: [String] = []

    init(derEncoded root: ASN1Node) throws {
        guard root.identifier == .sequence, case .constructed(let nodes) = root.content else {
            throw ASN1Error.unexpectedFieldType(root.identifier)
        }
        for node in nodes where node.identifier.tagClass == .contextSpecific {
            guard case .primitive(let bytes) = node.content else { continue }
            let text = String(data: Data(bytes), encoding: .ascii)
            switch (node.identifier.tagNumber, text) {
            case (1, let text?): emailAddresses.append(text)
            case (2, let text?): hosts.append(text)
            case (1, nil), (2, nil): throw ASN1Error.invalidASN1Object(reason: "a name of a subject is ASCII")
            default: break
            }
        }
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let subjectKeyIdentifier: Self = [2, 5, 29, 14]
    fileprivate static let keyUsage: Self = [2, 5, 29, 15]
    fileprivate static let subjectAlternativeName: Self = [2, 5, 29, 17]
    fileprivate static let basicConstraints: Self = [2, 5, 29, 19]
    fileprivate static let extendedKeyUsage: Self = [2, 5, 29, 37]
}
