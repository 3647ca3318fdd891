internal import Glibc

/// The rules by which a certificate is for a host (RFC 6125, as Apple's systems apply them). The common name of the subject never counts.
enum HostName {
    /// - Parameter work: Counts the names that are looked at.
    static func matches(_ host: String, _ certificate: X509Certificate, _ work: TrustWork) -> Bool {
        certificate.extensions.alternativeNames.reading(absent: false, unreadable: false) { names in
            work.spend(names.names.count)
            if let address = address(host) { return names.addresses.contains(address) }
            guard let labels = labels(host.hasSuffix(".") ? String(host.dropLast()) : host) else { return false }
            return names.hosts.contains { matches(labels, pattern: $0) }
        }
    }

    private static func matches(_ host: [String], pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return labels(pattern) == host }
        guard let rest = labels(String(pattern.dropFirst(2))), !isPublicSuffix(rest) else { return false }
        return host.count == rest.count + 1 && Array(host.dropFirst()) == rest
    }

    /// The labels in small letters; nil for a text that does not look like a host, such as an address.
    private static func labels(_ name: String) -> [String]? {
        // Before the letters are made small: some beyond ASCII become a letter of it.
        guard 1...255 ~= name.utf8.count, name.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        let labels = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let areLabels = labels.allSatisfy { label in
            1...63 ~= label.utf8.count
                && label.utf8.allSatisfy {
                    UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                        || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                }
        }
        let hasLetter = labels.last?.utf8.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 } ?? false
        return areLabels && hasLetter ? labels : nil
    }

    /// Whether strangers have hosts below the name, so that no wildcard may stand before it: one label, or a kind of organisation before a
    /// country. A whole list of such names would have to be kept up to date.
    private static func isPublicSuffix(_ labels: [String]) -> Bool {
        labels.count == 1 || (labels.count == 2 && labels[1].count == 2 && organisations.contains(labels[0]))
    }

    private static let organisations: Set = ["ac", "co", "com", "edu", "gov", "mil", "net", "org"]

    /// The bytes of an IPv4 or IPv6 address.
    private static func address(_ host: String) -> [UInt8]? {
        // C would end the text at a zero.
        guard !host.utf8.contains(0) else { return nil }
        var (short, long) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, host, &short) == 1 { return withUnsafeBytes(of: &short) { Array($0) } }
        if inet_pton(AF_INET6, host, &long) == 1 { return withUnsafeBytes(of: &long) { Array($0) } }
        return nil
    }
}
