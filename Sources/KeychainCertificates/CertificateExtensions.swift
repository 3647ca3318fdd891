internal import FoundationEssentials
internal import SwiftASN1

/// One extension of a certificate. An unreadable one is a case of its own, so that each reader says how it judges it.
enum CertificateExtension<Content: Sendable>: Sendable {
    case absent
    case read(Content)
    case unreadable

    func reading<Value>(absent: Value, unreadable: Value, _ read: (Content) -> Value) -> Value {
        switch self {
        case .absent: absent
        case .read(let content): read(content)
        case .unreadable: unreadable
        }
    }
}

/// The extensions of a certificate (RFC 5280, section 4.2). If several have one type, the first counts.
struct CertificateExtensions: Sendable {
    private(set) var alternativeNames = CertificateExtension<AlternativeNames>.absent
    private(set) var basicConstraints = CertificateExtension<BasicConstraints>.absent
    private(set) var keyUsage = CertificateExtension<KeyUsage>.absent
    private(set) var extendedKeyUsage = CertificateExtension<ExtendedKeyUsage>.absent
    private(set) var nameConstraints = CertificateExtension<NameConstraints>.absent
    private(set) var policies = CertificateExtension<CertificatePolicies>.absent
    private(set) var policyMappings = CertificateExtension<PolicyMappings>.absent
    private(set) var policyConstraints = CertificateExtension<PolicyConstraints>.absent
    /// The number of certificates below in which the policy "any" still counts.
    private(set) var inhibitAnyPolicy = CertificateExtension<CertificateCount>.absent
    private(set) var subjectKeyIdentifier = CertificateExtension<SubjectKeyIdentifier>.absent
    /// The issuer's key, as the certificate names it.
    private(set) var authorityKeyIdentifier = CertificateExtension<AuthorityKeyIdentifier>.absent

    private(set) var hasDuplicate = false
    /// Whether an extension of a known type cannot be read.
    private(set) var isUnreadable = false
    /// Whether a critical one, or a critical part of one, is not known here.
    private(set) var hasUnknownCritical = false
    private(set) var hasCriticalAlternativeNames = false

    init() {}
}

extension CertificateExtensions: DERParseable {
    /// - Throws: for a list without any, and for a critical extension of a known type that cannot be read.
    init(derEncoded root: ASN1Node) throws {
        let all = try DER.sequence(of: EncodedExtension.self, identifier: .sequence, rootNode: root)
        guard !all.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a list of extensions has at least one")
        }
        for one in all { try take(one) }
        hasDuplicate = Set(all.map(\.type)).count < all.count
    }

    private mutating func take(_ one: EncodedExtension) throws {
        switch one.type {
        case .alternativeNames:
            try keep(one, \.alternativeNames)
            hasCriticalAlternativeNames = hasCriticalAlternativeNames || one.isCritical
        case .basicConstraints: try keep(one, \.basicConstraints)
        case .keyUsage: try keep(one, \.keyUsage)
        case .extendedKeyUsage: try keep(one, \.extendedKeyUsage)
        case .nameConstraints: try keep(one, \.nameConstraints)
        case .certificatePolicies:
            let policies = try keep(one, \.policies)
            // RFC 5280, section 4.2.1.4.
            let isUnknown = one.isCritical && policies.reading(absent: false, unreadable: true, \.hasUnknownQualifier)
            hasUnknownCritical = hasUnknownCritical || isUnknown
        case .policyMappings: try keep(one, \.policyMappings)
        case .policyConstraints: try keep(one, \.policyConstraints)
        case .inhibitAnyPolicy: try keep(one, \.inhibitAnyPolicy)
        case .subjectKeyIdentifier: try keep(one, \.subjectKeyIdentifier)
        case .authorityKeyIdentifier: try keep(one, \.authorityKeyIdentifier)
        // No list of revoked certificates is fetched here.
        case .revocationLists: _ = try read(one, RevocationLists.self)
        default: hasUnknownCritical = hasUnknownCritical || one.isCritical
        }
    }

    @discardableResult
    private mutating func keep<Content: DERParseable>(
        _ one: EncodedExtension, _ place: WritableKeyPath<Self, CertificateExtension<Content>>
    ) throws -> CertificateExtension<Content> {
        let content = try read(one, Content.self)
        if case .absent = self[keyPath: place] { self[keyPath: place] = content }
        return content
    }

    private mutating func read<Content: DERParseable>(
        _ one: EncodedExtension, _: Content.Type
    ) throws -> CertificateExtension<Content> {
        do {
            return .read(try Content(derEncoded: DER.parse(one.content.bytes)))
        } catch {
            guard !one.isCritical else { throw error }
            isUnreadable = true
            return .unreadable
        }
    }
}

private struct EncodedExtension: DERParseable {
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
}

// MARK: - The contents of the extensions

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
        // Apple's systems and OpenSSL also read certificates whose unused bits are set, which DER forbids.
        guard root.identifier == .bitString, case .primitive(let bytes) = root.content, let unused = bytes.first,
            unused < 8, unused == 0 || bytes.count > 1
        else { throw ASN1Error.invalidASN1Object(reason: "a key usage is a string of bits") }
        // Bit 5, counted from the highest one (RFC 5280, section 4.2.1.3).
        signsCertificates = bytes.dropFirst().first.map { $0 & 0x04 != 0 && (bytes.count > 2 || unused <= 2) } ?? false
    }
}

struct ExtendedKeyUsage: DERParseable, Sendable {
    let purposes: Set<ASN1ObjectIdentifier>

    init(derEncoded root: ASN1Node) throws {
        purposes = Set(try DER.sequence(of: ASN1ObjectIdentifier.self, identifier: .sequence, rootNode: root))
    }
}

/// The places of lists of revoked certificates.
struct RevocationLists: DERParseable, Sendable {
    init(derEncoded root: ASN1Node) throws {
        guard root.identifier == .sequence, case .constructed(let places) = root.content,
            places.allSatisfy({ $0.identifier == .sequence })
        else { throw ASN1Error.unexpectedFieldType(root.identifier) }
    }
}

struct SubjectKeyIdentifier: DERParseable, Sendable {
    let bytes: Data

    init(derEncoded root: ASN1Node) throws { bytes = Data(try ASN1OctetString(derEncoded: root).bytes) }
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
    static let alternativeNames: Self = [2, 5, 29, 17]
    static let basicConstraints: Self = [2, 5, 29, 19]
    static let nameConstraints: Self = [2, 5, 29, 30]
    static let certificatePolicies: Self = [2, 5, 29, 32]
    static let policyMappings: Self = [2, 5, 29, 33]
    static let authorityKeyIdentifier: Self = [2, 5, 29, 35]
    static let policyConstraints: Self = [2, 5, 29, 36]
    static let revocationLists: Self = [2, 5, 29, 31]
    static let extendedKeyUsage: Self = [2, 5, 29, 37]
    static let inhibitAnyPolicy: Self = [2, 5, 29, 54]
}
