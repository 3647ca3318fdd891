internal import SwiftASN1

/// The policies under which a certificate was issued (RFC 5280, section 4.2.1.4).
struct CertificatePolicies: DERParseable, Sendable {
    let identifiers: Set<ASN1ObjectIdentifier>

    init(derEncoded root: ASN1Node) throws {
        let all = try DER.sequence(of: PolicyInformation.self, identifier: .sequence, rootNode: root)
        identifiers = Set(all.map(\.identifier))
        guard identifiers.count == all.count else {
            throw ASN1Error.invalidASN1Object(reason: "a policy stands in a list once")
        }
    }
}

private struct PolicyInformation: DERParseable, Sendable {
    let identifier: ASN1ObjectIdentifier

    init(derEncoded root: ASN1Node) throws {
        identifier = try DER.sequence(root, identifier: .sequence) { nodes in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
            // Qualifiers are texts for people.
            while nodes.next() != nil {}
            return identifier
        }
    }
}

/// Policies of an issuer, and those of its subject that are as good (section 4.2.1.5).
struct PolicyMappings: DERParseable, Sendable {
    let pairs: [(issuer: ASN1ObjectIdentifier, subject: ASN1ObjectIdentifier)]

    init(derEncoded root: ASN1Node) throws {
        pairs = try DER.sequence(of: PolicyMapping.self, identifier: .sequence, rootNode: root).map(\.pair)
        guard !pairs.contains(where: { $0.issuer == .anyPolicy || $0.subject == .anyPolicy }) else {
            throw ASN1Error.invalidASN1Object(reason: "\"any\" is mapped to no policy")
        }
    }
}

private struct PolicyMapping: DERParseable, Sendable {
    let pair: (issuer: ASN1ObjectIdentifier, subject: ASN1ObjectIdentifier)

    init(derEncoded root: ASN1Node) throws {
        pair = try DER.sequence(root, identifier: .sequence) { nodes in
            (try ASN1ObjectIdentifier(derEncoded: &nodes), try ASN1ObjectIdentifier(derEncoded: &nodes))
        }
    }
}

/// After how many certificates a policy is needed, and policies are no longer mapped (section 4.2.1.11).
struct PolicyConstraints: DERParseable, Sendable {
    let requireExplicit: Int?
    let inhibitMapping: Int?

    init(derEncoded root: ASN1Node) throws {
        (requireExplicit, inhibitMapping) = try DER.sequence(root, identifier: .sequence) { nodes in
            func number(_ tag: UInt) throws -> Int? {
                try DER.optionalImplicitlyTagged(
                    &nodes, tag: ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific))
            }
            return (try number(0), try number(1))
        }
    }
}

extension ASN1ObjectIdentifier {
    static let anyPolicy: Self = [2, 5, 29, 32, 0]
}
