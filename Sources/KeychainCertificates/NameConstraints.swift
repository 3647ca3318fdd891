internal import FoundationEssentials
internal import SwiftASN1

/// The names that an authority may certify (RFC 5280, section 4.2.1.10).
struct NameConstraints: DERParseable, Sendable {
    private let permitted: NameSubtrees
    private let excluded: NameSubtrees

    init(derEncoded root: ASN1Node) throws {
        let (permitted, excluded) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try Self.names(&nodes, tagNumber: 0), try Self.names(&nodes, tagNumber: 1))
        }
        guard permitted != nil || excluded != nil else {
            throw ASN1Error.invalidASN1Object(reason: "constraints have at least one list")
        }
        self.permitted = try NameSubtrees(permitted ?? [])
        self.excluded = try NameSubtrees(excluded ?? [])
    }

    private static func names(
        _ nodes: inout ASN1NodeCollection.Iterator, tagNumber: UInt
    ) throws -> [AlternativeName]? {
        let tag = ASN1Identifier(tagWithNumber: tagNumber, tagClass: .contextSpecific)
        var lookahead = nodes
        guard let list = lookahead.next(), list.identifier == tag else { return nil }
        nodes = lookahead
        guard case .constructed(let subtrees) = list.content else { throw ASN1Error.unexpectedFieldType(tag) }
        let names = try subtrees.map { subtree in
            try DER.sequence(subtree, identifier: .sequence) { nodes in
                guard let base = nodes.next() else {
                    throw ASN1Error.invalidASN1Object(reason: "a constraint has a name")
                }
                // DER leaves out the default, a distance of zero; certificates in the wild spell it out all the same.
                let distance = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                let least: Int = try DER.optionalImplicitlyTagged(&nodes, tag: distance) ?? 0
                guard least == 0, nodes.next() == nil else {
                    throw ASN1Error.invalidASN1Object(reason: "a constraint has no distances")
                }
                return try AlternativeName(base)
            }
        }
        guard !names.isEmpty else {
            throw ASN1Error.invalidASN1Object(reason: "a list of constraints has at least one")
        }
        return names
    }

    /// Pairs of a name and a constraint. OpenSSL and BoringSSL refuse more than these, and Go a quarter of them: no
    /// authority certifies so.
    private static let mostPairs = 1 << 20

    /// - Parameter work: Counts the steps.
    func permits(_ certificate: X509Certificate, _ work: TrustWork) -> Bool {
        certificate.constrainedNames.reading(absent: true, unreadable: false) { names in
            guard names.count * (permitted.count + excluded.count) <= Self.mostPairs else {
                work.useUp()
                return false
            }
            return names.allSatisfy { name in
                (!permitted.constrain(name) || permitted.contain(name, work)) && !excluded.mayConcern(name, work)
            }
        }
    }
}

extension X509Certificate {
    /// The alternative names and the subject's own, which may have mail addresses of old.
    fileprivate var constrainedNames: CertificateExtension<[AlternativeName]> {
        let own: [AlternativeName] =
            if !subject.isWhole { [.other(4), .other(1)] } else { subject.isEmpty ? [] : [.directory(subject)] }
        let addresses = subject.attributes.filter { $0.type == .emailAddress }.map { AlternativeName(address: $0.text) }
        return extensions.alternativeNames.reading(absent: .read(own + addresses), unreadable: .unreadable) {
            .read(own + addresses + $0.names)
        }
    }
}
