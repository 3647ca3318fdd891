internal import Foundation
internal import SwiftASN1

/// The extensions of a certificate (RFC 5280, section 4.2).
struct CertificateExtensions: Sendable {
    let all: [CertificateExtension]
    let subjectKeyIdentifier: Data?
    /// The issuer's key, as the certificate names it.
    let authorityKeyIdentifier: Data?

    init() { (all, subjectKeyIdentifier, authorityKeyIdentifier) = ([], nil, nil) }
}

extension CertificateExtensions: DERParseable {
    /// - Throws: for a list without any, and for a critical extension that is known here and is not what it should be.
    init(derEncoded root: ASN1Node) throws {
        let all = try DER.sequence(of: CertificateExtension.self, identifier: .sequence, rootNode: root)
        guard !all.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a list of extensions has at least one")
        }
        for known in all where known.isCritical { try known.check() }
        self.all = all
        subjectKeyIdentifier = all.first(.subjectKeyIdentifier, ASN1OctetString.self).map { Data($0.bytes) }
        authorityKeyIdentifier = all.first(.authorityKeyIdentifier, AuthorityKeyIdentifier.self)?.identifier
    }

    var alternativeNames: AlternativeNames? { first(.subjectAlternativeName, AlternativeNames.self) }
    var basicConstraints: BasicConstraints? { first(.basicConstraints, BasicConstraints.self) }
    var keyUsage: KeyUsage? { first(.keyUsage, KeyUsage.self) }
    var extendedKeyUsage: ExtendedKeyUsage? { first(.extendedKeyUsage, ExtendedKeyUsage.self) }
    var nameConstraints: NameConstraints? { first(.nameConstraints, NameConstraints.self) }
    var policies: CertificatePolicies? { first(.certificatePolicies, CertificatePolicies.self) }
    var policyMappings: PolicyMappings? { first(.policyMappings, PolicyMappings.self) }
    var policyConstraints: PolicyConstraints? { first(.policyConstraints, PolicyConstraints.self) }
    /// The number of certificates below in which the policy "any" still counts.
    var inhibitAnyPolicy: Int? { first(.inhibitAnyPolicy, Int.self) }

    private func first<Content: DERParseable>(_ type: ASN1ObjectIdentifier, _ content: Content.Type) -> Content? {
        all.first(type, content)
    }

    func has(_ type: ASN1ObjectIdentifier, critical: Bool) -> Bool {
        all.contains { $0.type == type && $0.isCritical == critical }
    }

    var hasDuplicate: Bool { Set(all.map(\.type)).count < all.count }
    /// Whether one that is known here is not what it should be.
    var isUnreadable: Bool { all.contains { (try? $0.check()) == nil } }
    var hasUnknownCritical: Bool { all.contains { $0.isCritical && !$0.isKnown } }
}

extension [CertificateExtension] {
    /// The first extension of a type; nil if there is none, or if it is not what it should be.
    fileprivate func first<Content: DERParseable>(_ type: ASN1ObjectIdentifier, _ content: Content.Type) -> Content? {
        first { $0.type == type }.flatMap { try? $0.parse(content) }
    }
}

struct CertificateExtension: Sendable {
    let type: ASN1ObjectIdentifier
    let isCritical: Bool
    private let content: ASN1OctetString

    func parse<Content: DERParseable>(_ content: Content.Type) throws -> Content {
        try Content(derEncoded: DER.parse(self.content.bytes))
    }

    var isKnown: Bool { Self.contents[type] != nil }

    /// - Throws: if the extension is known here, and not what it should be.
    func check() throws {
        if let content = Self.contents[type] { _ = try parse(content) }
    }

    private static let contents: [ASN1ObjectIdentifier: any (DERParseable & Sendable).Type] = [
        .subjectKeyIdentifier: ASN1OctetString.self, .authorityKeyIdentifier: AuthorityKeyIdentifier.self,
        .keyUsage: KeyUsage.self, .subjectAlternativeName: AlternativeNames.self,
        .basicConstraints: BasicConstraints.self, .nameConstraints: NameConstraints.self,
        .certificatePolicies: CertificatePolicies.self, .policyMappings: PolicyMappings.self,
        .policyConstraints: PolicyConstraints.self, .extendedKeyUsage: ExtendedKeyUsage.self,
        .inhibitAnyPolicy: Int.self,
        // Where lists of revoked certificates are. Nobody fetches them here.
        [2, 5, 29, 31]: ASN1Any.self,
    ]
}

extension CertificateExtension: DERParseable {
    init(derEncoded root: ASN1Node) throws {
        (type, isCritical, content) = try DER.sequence(root, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            // DER leaves out the default, false; certificates in the wild spell it out all the same.
            let isCritical: Bool? = try DER.optionalImplicitlyTagged(&nodes)
            return (type, isCritical ?? false, try ASN1OctetString(derEncoded: &nodes))
        }
    }
}

// MARK: - What the extensions say

struct BasicConstraints: DERParseable, Sendable {
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

struct KeyUsage: DERParseable, Sendable {
    let signsCertificates: Bool

    init(derEncoded root: ASN1Node) throws {
        let bits = try ASN1BitString(derEncoded: root)
        // Bit 5, counted from the highest one (RFC 5280, section 4.2.1.3).
        signsCertificates = bits.bytes.first.map { $0 & 0x04 != 0 } ?? false
    }
}

struct ExtendedKeyUsage: DERParseable, Sendable {
    let purposes: [ASN1ObjectIdentifier]

    init(derEncoded root: ASN1Node) throws {
        purposes = try DER.sequence(of: ASN1ObjectIdentifier.self, identifier: .sequence, rootNode: root)
    }
}

struct AuthorityKeyIdentifier: DERParseable, Sendable {
    let identifier: Data?

    init(derEncoded root: ASN1Node) throws {
        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        identifier = try DER.sequence(root, identifier: .sequence) { nodes in
            let identifier: ASN1OctetString? = try DER.optionalImplicitlyTagged(&nodes, tag: tag)
            // The issuer's name and serial number tell another certificate of the same key from this one.
            while nodes.next() != nil {}
            return identifier.map { Data($0.bytes) }
        }
    }
}

extension ASN1ObjectIdentifier {
    static let subjectKeyIdentifier: Self = [2, 5, 29, 14]
    static let keyUsage: Self = [2, 5, 29, 15]
    static let subjectAlternativeName: Self = [2, 5, 29, 17]
    static let basicConstraints: Self = [2, 5, 29, 19]
    static let nameConstraints: Self = [2, 5, 29, 30]
    static let certificatePolicies: Self = [2, 5, 29, 32]
    static let policyMappings: Self = [2, 5, 29, 33]
    static let authorityKeyIdentifier: Self = [2, 5, 29, 35]
    static let policyConstraints: Self = [2, 5, 29, 36]
    static let extendedKeyUsage: Self = [2, 5, 29, 37]
    static let inhibitAnyPolicy: Self = [2, 5, 29, 54]
}
