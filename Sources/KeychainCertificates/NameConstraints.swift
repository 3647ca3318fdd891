internal import Foundation
internal import SwiftASN1

/// The names that an authority may certify (RFC 5280, section 4.2.1.10).
struct NameConstraints: DERParseable, Sendable {
    private let permitted: [AlternativeName]
    private let excluded: [AlternativeName]

    init(derEncoded root: ASN1Node) throws {
        (permitted, excluded) = try DER.sequence(root, identifier: .sequence) { nodes in
            (try Self.names(&nodes, tagNumber: 0), try Self.names(&nodes, tagNumber: 1))
        }
    }

    private static func names(
        _ nodes: inout ASN1NodeCollection.Iterator, tagNumber: UInt
    ) throws -> [AlternativeName] {
        let tag = ASN1Identifier(tagWithNumber: tagNumber, tagClass: .contextSpecific)
        var lookahead = nodes
        guard let list = lookahead.next(), list.identifier == tag else { return [] }
        nodes = lookahead
        guard case .constructed(let subtrees) = list.content else { throw ASN1Error.unexpectedFieldType(tag) }
        return try subtrees.map { subtree in
            try DER.sequence(subtree, identifier: .sequence) { nodes in
                guard let base = nodes.next(), nodes.next() == nil else {
                    throw ASN1Error.invalidASN1Object(reason: "a constraint has a name and no distances")
                }
                let name = try AlternativeName(base)
                if case .address(let bytes) = name, bytes.count != 8 && bytes.count != 32 {
                    throw ASN1Error.invalidASN1Object(reason: "a constraint of addresses has an address and a mask")
                }
                return name
            }
        }
    }

    /// Comparisons of one certificate's names. A certificate that needs more is refused. None in use does.
    private static let mostComparisons = 10_000

    func permits(_ certificate: X509Certificate) -> Bool {
        let names = certificate.constrainedNames
        guard names.count * (permitted.count + excluded.count) <= Self.mostComparisons else { return false }
        return names.allSatisfy { name in
            let sameKind = permitted.filter { $0.kind == name.kind }
            return (sameKind.isEmpty || sameKind.contains(where: name.isWithin))
                && !excluded.contains { name.isWithin($0) || name.mayMean($0) }
        }
    }
}

extension X509Certificate {
    /// The alternative names and the subject's own, which may have mail addresses of old.
    fileprivate var constrainedNames: [AlternativeName] {
        let alternatives = extensions.alternativeNames?.names
        let addresses = subject.texts(of: .emailAddress).map(AlternativeName.emailAddress)
        return (subject.attributes.isEmpty ? [] : [.directory(subject)]) + addresses + (alternatives ?? [])
    }
}

extension AlternativeName {
    /// A name of a kind that is not known here is within nothing, so that no permission covers it.
    fileprivate func isWithin(_ constraint: AlternativeName) -> Bool {
        switch (self, constraint) {
        case (.host(let host), .host(let domain)): host.isWithinDomain(domain)
        case (.emailAddress(let address), .emailAddress(let base)): address.isAddress(within: base)
        case (.uri(let uri), .uri(let base)): uri.hostOfURI?.isHost(within: base) ?? false
        case (.directory(let name), .directory(let base)): name.isWithin(base)
        case (.address(let address), .address(let base)):
            base.count == 2 * address.count
                && address.indices.allSatisfy { (address[$0] ^ base[$0]) & base[address.count + $0] == 0 }
        default: false
        }
    }

    /// Whether an exclusion may concern the name although the name is not within it: a wildcard that stands for the excluded host,
    /// a URI without a host, an address of another length, or a name of a kind that is not known here.
    fileprivate func mayMean(_ excluded: AlternativeName) -> Bool {
        switch (self, excluded) {
        case (.host(let pattern), .host(let host)) where pattern.hasPrefix("*."):
            host.split(separator: ".").dropFirst().joined(separator: ".").lowercased()
                == pattern.dropFirst(2).lowercased()
        case (.uri(let uri), .uri): uri.hostOfURI == nil
        case (.address(let bytes), .address): bytes.count != 4 && bytes.count != 16
        case (.other(let kind), .other(let other)): kind == other
        default: false
        }
    }
}

extension String {
    /// Programs do not agree on the host of a URI with a backslash, so that it has none.
    fileprivate var hostOfURI: String? { contains("\\") ? nil : URL(string: self)?.host }

    /// Without the dot of the root at the end.
    private var withoutRoot: String { hasSuffix(".") && count > 1 ? String(dropLast()) : self }

    /// Whether the host is the domain or below it. Below, only, if the domain begins with a dot.
    fileprivate func isWithinDomain(_ domain: String) -> Bool {
        let (host, domain) = (lowercased().withoutRoot, domain.lowercased().withoutRoot)
        if domain.isEmpty { return true }
        return domain.hasPrefix(".") ? host.hasSuffix(domain) : host == domain || host.hasSuffix("." + domain)
    }

    /// Whether the host is the one named, or below a domain that begins with a dot.
    fileprivate func isHost(within base: String) -> Bool {
        base.hasPrefix(".") ? isWithinDomain(base) : lowercased().withoutRoot == base.lowercased().withoutRoot
    }

    /// Whether a mail address is the one named, or at a host that is named.
    fileprivate func isAddress(within base: String) -> Bool {
        if base.contains("@") { return lowercased() == base.lowercased() }
        guard let at = lastIndex(of: "@") else { return false }
        return String(self[index(after: at)...]).isHost(within: base)
    }
}
