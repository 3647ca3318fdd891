package import FoundationEssentials

/// Judges a certificate: finds a chain from it to an anchor, and says which flaws there are.
package struct TrustEvaluation {
    /// The first certificate is the one that is judged.
    package var certificates: [X509Certificate]
    package var policies: [TrustPolicy]
    package var anchors: TrustAnchors
    package var date: Date
    /// Finds further certificates by the normalized content of their subject. It is asked only if there is no trusted chain without them.
    package var stored: (Data) -> [X509Certificate]

    /// The work that is done for the certificates.
    package var mostSteps = usualSteps

    /// Enough for 90 signatures of as many issuers. No chain in use comes near it.
    package static let usualSteps = 1_000_000

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

    package func verdict() -> Verdict { measuredVerdict().verdict }

    /// - Returns: also the steps of work that it took.
    package func measuredVerdict() -> (verdict: Verdict, steps: Int) {
        let (anchors, work) = (anchors.index(), TrustWork(mostSteps: mostSteps))
        var best = best(anchors, work) { _ in [] }
        // Stored certificates count also if a chain was found: one of them may still be valid.
        if !best.flaws.isEmpty {
            let withStored = self.best(anchors, work, stored)
            if withStored.isBetter(than: best) { best = withStored }
        }
        // A search that was cut short is uncertain, whatever it found.
        let limit = work.isUsedUp ? [TrustFlaw(.tooMuchWork, at: 0)] : []
        return (Verdict(chain: best.chain.certificates, flaws: limit + best.flaws), work.steps)
    }

    private func best(
        _ anchors: (own: CertificateIndex, system: CertificateIndex), _ work: TrustWork,
        _ stored: @escaping (Data) -> [X509Certificate]
    ) -> JudgedChain {
        var search = ChainSearch(
            others: Array(certificates.dropFirst()), anchors: anchors, date: date, work: work, stored: stored)
        var best: JudgedChain?
        search.chains(of: certificates[0]) { chain in
            let judgement = ChainJudgement(chain: chain, date: date, work: work)
            let judged = JudgedChain(chain: chain, flaws: judgement.flaws(policies).sorted())
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

    /// A chain to an anchor is better than one that ends elsewhere, then one with fewer flaws, then a longer one.
    func isBetter(than other: JudgedChain) -> Bool {
        if chain.isAnchored != other.chain.isAnchored { return chain.isAnchored }
        if flaws.count != other.flaws.count { return flaws.count < other.flaws.count }
        return chain.certificates.count > other.chain.certificates.count
    }
}
