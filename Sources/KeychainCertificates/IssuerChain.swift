package import FoundationEssentials

/// A certificate and its issuers among others, trusted or not.
package enum IssuerChain {
    /// - Parameters:
    ///   - leaf: The first certificate of the chain.
    ///   - others: The certificates among which the issuers are, in any order.
    ///   - date: Issuers that are valid at this date come before others.
    /// - Returns: the first chain up to a root, or else the longest one.
    package static func chain(
        of leaf: X509Certificate, among others: [X509Certificate], at date: Date = Date()
    ) -> [X509Certificate] {
        var longest = [leaf]
        let none = CertificateIndex([])
        var search = ChainSearch(
            others: others, anchors: (none, none), date: date, work: TrustWork(), stored: { _ in [] })
        search.chains(of: leaf) { chain in
            let isWhole = chain.end == .selfSigned
            if isWhole || chain.certificates.count > longest.count { longest = chain.certificates }
            return isWhole
        }
        return longest
    }
}
