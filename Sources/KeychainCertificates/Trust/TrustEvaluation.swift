package import Foundation

/// Judges a certificate: finds a chain from it to an anchor, and says which flaws there are.
package struct TrustEvaluation {
    /// The first is the one that is judged.
    package var certificates: [X509Certificate]
    package var policies: [TrustPolicy]
    package var anchors: TrustAnchors
    package var date: Date
    /// Finds further certificates by the normalized content of their subject. It is asked only if there is no trusted chain without them.
    package var stored: (Data) -> [X509Certificate]

    package init(
        _ certificates: [X509Certificate], policies: [TrustPolicy], anchors: TrustAnchors, date: Date,
        stored: @escaping (Data) -> [X509Certificate] = { _ in [] }
    ) {
        (self.certificates, self.policies, self.anchors) = (certificates, policies, anchors)
        (self.date, self.stored) = (date, stored)
    }

    package struct Verdict: Sendable {
        /// The best chain there is: at least the leaf.
        package let chain: [X509Certificate]
        /// The heaviest one first.
        package let flaws: [TrustFlaw]
    }

    package func verdict() -> Verdict {
        let anchors = anchors.index()
        let best = best(anchors) { _ in [] }
        // Also of a chain that was found: a stored certificate may be the one that is still valid.
        guard !best.flaws.isEmpty else { return best.verdict }
        let withStored = self.best(anchors, stored)
        return withStored.isBetter(than: best) ? withStored.verdict : best.verdict
    }

    private func best(
        _ anchors: (own: CertificateIndex, system: CertificateIndex), _ stored: @escaping (Data) -> [X509Certificate]
    ) -> JudgedChain {
        var search = ChainSearch(
            others: Array(certificates.dropFirst()), anchors: anchors, date: date, stored: stored)
        var best: JudgedChain?
        search.chains(of: certificates[0]) { chain in
            let judged = JudgedChain(
                chain: chain, flaws: ChainJudgement(chain: chain, date: date).flaws(policies).sorted())
            if best.map(judged.isBetter) ?? true { best = judged }
            return judged.flaws.isEmpty
        }
        // Every search shows at least the leaf.
        return best!
    }
}

private struct JudgedChain {
    let chain: CertificateChain
    let flaws: [TrustFlaw]

    var verdict: TrustEvaluation.Verdict { TrustEvaluation.Verdict(chain: chain.certificates, flaws: flaws) }

    /// A chain to an anchor is better than one that ends elsewhere, then one with fewer flaws, then a longer one.
    func isBetter(than other: JudgedChain) -> Bool {
        if chain.isAnchored != other.chain.isAnchored { return chain.isAnchored }
        if flaws.count != other.flaws.count { return flaws.count < other.flaws.count }
        return chain.certificates.count > other.chain.certificates.count
    }
}
