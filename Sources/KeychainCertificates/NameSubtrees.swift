internal import FoundationEssentials
internal import SwiftASN1

/// The names of a list of constraints. The cost of a name's look-up depends on its own length, and hardly on the
/// list's: a stranger makes both.
struct NameSubtrees: Sendable {
    let count: Int
    private var kinds: Set<UInt> = []
    private var hosts = PrefixTree<Substring>()
    private var hostsOfMail = PrefixTree<Substring>()
    private var hostsOfURIs = PrefixTree<Substring>()
    private var mailAddresses: Set<MailAddress> = []
    /// The addresses in small letters.
    private var foldedMailAddresses: Set<String> = []
    private var directories = PrefixTree<ComparableName.Part>()
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
            case .emailAddress(let address) where address.contains("@"):
                guard let address = MailAddress(address) else { throw Self.failure }
                mailAddresses.insert(address)
                foldedMailAddresses.insert(address.folded)
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
        work.spend(name.steps)
        switch name {
        case .host(let host): return hosts.covers(host.domainLabels, work)
        case .emailAddress(let text):
            guard let address = MailAddress(text) else { return false }
            return mailAddresses.contains(address) || hostsOfMail.covers(address.host.domainLabels, work)
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

    /// Whether the list may concern the name although it is not within: a wildcard that stands for a host of the list, a mail address in
    /// other letters, a URI without a host, an address of another length, or a name that cannot be compared.
    func mayConcern(_ name: AlternativeName, _ work: TrustWork) -> Bool {
        guard constrain(name) else { return false }
        if contain(name, work) { return true }
        switch name {
        case .host(let pattern) where pattern.hasPrefix("*."):
            return hosts.hasChild(of: String(pattern.dropFirst(2)).domainLabels, work)
        case .emailAddress(let text):
            return MailAddress(text).map { foldedMailAddresses.contains($0.folded) } ?? true
        case .uri(let uri): return uri.hostOfURI == nil
        case .address(let bytes): return bytes.count != 4 && bytes.count != 16
        case .other: return true
        case .host, .directory: return false
        }
    }
}

/// An address has a part before its at sign, in which letters may differ by case, and a host.
private struct MailAddress: Hashable {
    let local: String
    /// The host in small letters.
    let host: String

    /// - Returns: nil if either part is missing.
    init?(_ text: String) {
        guard let at = text.lastIndex(of: "@"), at > text.startIndex, text.index(after: at) < text.endIndex else {
            return nil
        }
        (local, host) = (String(text[..<at]), text[text.index(after: at)...].lowercased())
    }

    var folded: String { local.lowercased() + "@" + host }
}

extension AlternativeName {
    /// The work of taking the name apart, once for each list.
    fileprivate var steps: Int {
        switch self {
        case .host(let text), .emailAddress(let text), .uri(let text): 1 + text.utf8.count / 16
        case .directory(let name): 1 + name.comparable.parts.reduce(0) { $0 + 1 + $1.byteCount / 16 }
        case .address, .other: 1
        }
    }
}

extension String {
    /// Programs do not agree on the host of a URI with a backslash, so that it has none.
    fileprivate var hostOfURI: String? {
        let host = contains("\\") ? nil : URL(string: self)?.host
        return host?.isEmpty ?? true ? nil : host
    }

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
