internal import SwiftASN1

/// The policies under which a certificate was issued (RFC 5280, section 4.2.1.4).
struct CertificatePolicies: DERParseable, Sendable {
    let identifiers: Set<ASN1ObjectIdentifier>
    /// Whether one is qualified by something else than a text for people or the address of one.
    let hasUnknownQualifier: Bool

    init(derEncoded root: ASN1Node) throws {
        let all = try DER.sequence(of: PolicyInformation.self, identifier: .sequence, rootNode: root)
        identifiers = Set(all.map(\.identifier))
        guard identifiers.count == all.count else {
            throw ASN1Error.invalidASN1Object(reason: "a policy stands in a list once")
        }
        hasUnknownQualifier = all.contains(where: \.hasUnknownQualifier)
    }
}

private struct PolicyInformation: DERParseable {
    let identifier: ASN1ObjectIdentifier
    let hasUnknownQualifier: Bool

    /// The address of a practice statement, and a notice to people.
    private static let knownQualifiers: Set<ASN1ObjectIdentifier> = [
        [1, 3, 6, 1, 5, 5, 7, 2, 1], [1, 3, 6, 1, 5, 5, 7, 2, 2],
    ]

    init(derEncoded root: ASN1Node) throws {
        (identifier, hasUnknownQualifier) = try DER.sequence(root, identifier: .sequence) { nodes in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
            var hasUnknownQualifier = false
            while let list = nodes.next() {
                // A list of another form has none that is known.
                let qualifiers = try? DER.sequence(of: PolicyQualifier.self, identifier: .sequence, rootNode: list)
                let areKnown = qualifiers?.allSatisfy { Self.knownQualifiers.contains($0.identifier) } ?? false
                hasUnknownQualifier = hasUnknownQualifier || !areKnown
            }
            return (identifier, hasUnknownQualifier)
        }
    }
}

private struct PolicyQualifier: DERParseable {
    let identifier: ASN1ObjectIdentifier

    init(derEncoded root: ASN1Node) throws {
        identifier = try DER.sequence(root, identifier: .sequence) { nodes in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
            while nodes.next() != nil {}
            return identifier
        }
    }
}

/// Policies of an issuer, and the policies of its subject that are as good (section 4.2.1.5).
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
                let number: Int? = try DER.optionalImplicitlyTagged(
                    &nodes, tag: ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific))
                return try number.map { try CertificateCount($0).value }
            }
            return (try number(0), try number(1))
        }
        guard requireExplicit != nil || inhibitMapping != nil else {
            throw ASN1Error.invalidASN1Object(reason: "constraints have at least one number")
        }
    }
}

/// A number of certificates, which is not negative.
struct CertificateCount: DERParseable, Sendable {
    let value: Int

    init(_ value: Int) throws {
        guard value >= 0 else {
            throw ASN1Error.invalidASN1Object(reason: "there is no negative number of certificates")
        }
        self.value = value
    }

    init(derEncoded root: ASN1Node) throws { try self.init(Int(derEncoded: root)) }
}

extension ASN1ObjectIdentifier {
    static let anyPolicy: Self = [2, 5, 29, 32, 0]
}
