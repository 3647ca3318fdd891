internal import Foundation

/// The order of certificates of which each is issued by the next one, by their names alone.
package enum IssuerChain {
    /// - Parameter leaf: The first one.
    /// - Parameter others: Those among which the issuers are, in any order.
    package static func chain(of leaf: X509Certificate, among others: [X509Certificate]) -> [X509Certificate] {
        var (chain, used) = ([leaf], Set([leaf.der]))
        while let issuer = issuer(of: chain[chain.count - 1], among: others), used.insert(issuer.der).inserted {
            chain.append(issuer)
        }
        return chain
    }

    private static func issuer(of certificate: X509Certificate, among others: [X509Certificate]) -> X509Certificate? {
        guard let name = try? certificate.issuer.normalizedContent,
            (try? certificate.subject.normalizedContent) != name
        else { return nil }
        return others.first { (try? $0.subject.normalizedContent) == name }
    }
}
