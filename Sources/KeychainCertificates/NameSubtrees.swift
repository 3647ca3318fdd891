internal import Foundation
internal import SwiftASN1

/// The names of a list of constraints. What a name costs to be looked up depends on its own length, and hardly on the list's: a stranger
/// makes both.
struct NameSubtrees: Sendable {
    let count: Int
    private var kinds: Set<UInt> = []
    private var hosts = PrefixTree<Substring>()
    private var hostsOfMail = PrefixTree<Substring>()
    private var hostsOfURIs = PrefixTree<Substring>()
    private var mailAddresses: Set<String> = []
    private var directories = PrefixTree<Set<ComparableName.Attribute>>()
    /// Addresses by their masks.
    private var networks: [[UInt8]: Set<[UInt8]>] = [:]

    /// - Throws: for a name of a known kind that cannot be compared.
    init(_ names: [AlternativeName]) throws {
        count = names.count
        for name in names {
            kinds.insert(name.kind)
            switch name {
            // A constraint without a dot before it holds for a host and all below it.
            case .host(let domain): hosts.insert(domain.baseLabels, domain.isBelowOnly ? .below : [.itself, .below])
            case .emailAddress(let address) where address.contains("@"): mailAddresses.insert(address.lowercased())
            case .emailAddress(let host): hostsOfMail.insert(host.baseLabels, host.isBelowOnly ? .below : .itself)
            case .uri(let host): hostsOfURIs.insert(host.baseLabels, host.isBelowOnly ? .below : .itself)
            case .directory(let base): directories.insert(base.comparable.parts, [.itself, .below])
            case .address(let bytes):
                guard bytes.count == 8 || bytes.count == 32 else { throw Self.failure }
                let (address, mask) = (bytes.prefix(bytes.count / 2), Array(bytes.suffix(bytes.count / 2)))
                networks[mask, default: []].insert(zip(address, mask).map(&))
            case .other(let kind):
                guard !AlternativeName.comparedKinds.contains(kind) else { throw Self.failure }
            }
        }
    }

    private static let failure = ASN1Error.invalidASN1Object(reason: "a constraint has a name that can be compared")

    /// Whether a name of the list is of the same kind.
    func constrain(_ name: AlternativeName) -> Bool { kinds.contains(name.kind) }

    /// Whether the name is within one of the list. A name of a kind that is not known here is within none.
    func contain(_ name: AlternativeName, _ work: TrustWork) -> Bool {
        switch name {
        case .host(let host): return hosts.covers(host.domainLabels, work)
        case .emailAddress(let address):
            work.spend(1)
            if mailAddresses.contains(address.lowercased()) { return true }
            guard let at = address.lastIndex(of: "@") else { return false }
            return hostsOfMail.covers(String(address[address.index(after: at)...]).domainLabels, work)
        case .uri(let uri): return uri.hostOfURI.map { hostsOfURIs.covers($0.domainLabels, work) } ?? false
        case .directory(let name): return directories.covers(name.comparable.parts, work)
        case .address(let bytes):
            return networks.contains { mask, addresses in
                work.spend(1)
                return mask.count == bytes.count && addresses.contains(zip(bytes, mask).map(&))
            }
        case .other: return false
        }
    }

    /// Whether the list may concern the name although it is not within: a wildcard that stands for a host of the list, a URI without a
    /// host, an address of another length, or a name that cannot be compared.
    func mayConcern(_ name: AlternativeName, _ work: TrustWork) -> Bool {
        guard constrain(name) else { return false }
        if contain(name, work) { return true }
        switch name {
        case .host(let pattern) where pattern.hasPrefix("*."):
            return hosts.hasChild(of: String(pattern.dropFirst(2)).domainLabels, work)
        case .uri(let uri): return uri.hostOfURI == nil
        case .address(let bytes): return bytes.count != 4 && bytes.count != 16
        case .other: return true
        case .host, .emailAddress, .directory: return false
        }
    }
}

extension String {
    /// Programs do not agree on the host of a URI with a backslash, so that it has none.
    fileprivate var hostOfURI: String? { contains("\\") ? nil : URL(string: self)?.host }

    /// Whether a constraint holds for the hosts below a domain alone.
    fileprivate var isBelowOnly: Bool { hasPrefix(".") && utf8.count > 1 }

    /// The labels of a constraint's domain.
    fileprivate var baseLabels: some Sequence<Substring> {
        isBelowOnly ? String(dropFirst()).domainLabels : domainLabels
    }

    /// The labels from the last one on, in small letters, without the dot of the root at the end.
    fileprivate var domainLabels: ReversedCollection<[Substring]> {
        var domain = lowercased()[...]
        if domain.hasSuffix("."), domain.utf8.count > 1 { domain.removeLast() }
        let labels = domain.isEmpty ? [] : domain.split(separator: ".", omittingEmptySubsequences: false)
        return labels.reversed()
    }
}
