package import FoundationEssentials
internal import SwiftASN1

/// Looks for the flaws of one chain.
struct ChainJudgement {
    let chain: CertificateChain
    let date: Date
    let work: TrustWork

    func flaws(_ policies: [TrustPolicy]) -> Set<TrustFlaw> {
        var flaws: Set<TrustFlaw> = []
        flaws.formUnion(end)
        for position in chain.certificates.indices {
            let reasons = ownFlaws(position) + (position > 0 ? authorityFlaws(position) : [])
            flaws.formUnion(reasons.map { TrustFlaw($0, at: position) })
            flaws.formUnion(constraintFlaws(position))
        }
        flaws.formUnion(CertificationPolicies(judged, work).flaw.map { [$0] } ?? [])
        for policy in Set(policies) { flaws.formUnion(self.flaws(policy)) }
        return flaws
    }

    private var top: Int { chain.certificates.count - 1 }

    /// The certificates besides the anchor.
    private var judged: ArraySlice<X509Certificate> { chain.certificates.prefix(chain.isAnchored ? top : top + 1) }

    private var end: [TrustFlaw] {
        switch chain.end {
        case .anchor: []
        case .selfSigned: [TrustFlaw(.untrustedRoot, at: top)]
        case .missingIssuer: [TrustFlaw(.missingIssuer, at: top)]
        case .tooLong: [TrustFlaw(.longChain, at: 0)]
        }
    }

    // MARK: Each certificate

    /// An anchor is judged as well, but for its signature. A leaf that is an anchor is judged like any other leaf.
    private func ownFlaws(_ position: Int) -> [TrustFlaw.Reason] {
        let certificate = chain.certificates[position]
        let extensions = certificate.extensions
        var reasons: [TrustFlaw.Reason] = []
        if certificate.publicKey.bitCount == nil { reasons.append(.unknownKey) }
        if certificate.publicKey.isWeak { reasons.append(.weakKey) }
        if extensions.hasUnknownCritical { reasons.append(.unknownCriticalExtension) }
        if extensions.isUnreadable { reasons.append(.unreadableExtension) }
        if extensions.hasDuplicate { reasons.append(.duplicateExtension) }
        if !certificate.validity.contains(date) { reasons.append(.date) }
        if certificate.subject.isEmpty && !(position == 0 && extensions.hasCriticalAlternativeNames) {
            reasons.append(.emptySubject)
        }
        if judged.indices.contains(position), certificate.signature.scheme == .brokenDigest {
            reasons.append(.brokenDigest)
        }
        if position < top, !certificate.names(keyOf: chain.certificates[position + 1]) {
            reasons.append(.otherKeyIdentifier)
        }
        return reasons
    }

    /// Name constraints hold for all certificates below, besides those that an authority issued to itself, like a new one for a new key.
    private func constraintFlaws(_ position: Int) -> [TrustFlaw] {
        let certificate = chain.certificates[position]
        if position > 0 && certificate.isSelfIssued { return [] }
        return chain.certificates.indices.dropFirst(position + 1).flatMap { authority in
            chain.certificates[authority].extensions.nameConstraints.reading(
                absent: [], unreadable: [TrustFlaw(.unreadableExtension, at: authority)]
            ) { constraints in
                let permits = work.permits(constraints, of: chain.certificates[authority], certificate)
                return permits ? [] : [TrustFlaw(.nameConstraints, at: position)]
            }
        }
    }

    /// The flaws of a certificate that issued another one. Only an anchor from before version 3 need not say that it is an
    /// authority's, since it cannot.
    private func authorityFlaws(_ position: Int) -> [TrustFlaw.Reason] {
        let certificate = chain.certificates[position]
        let mustSay = judged.indices.contains(position) || certificate.version == 3
        let reasons: [TrustFlaw.Reason] = certificate.extensions.basicConstraints.reading(
            absent: mustSay ? [.noBasicConstraints] : [], unreadable: [.unreadableExtension]
        ) { constraints in
            // The authorities between it and the leaf.
            let below = chain.certificates[1..<position].count { !$0.isSelfIssued }
            let isTooFarUp = constraints.mostIntermediates.map { below > $0 } ?? false
            return (constraints.isAuthority ? [] : [.noAuthority]) + (isTooFarUp ? [.tooManyIntermediates] : [])
        }
        let usage: [TrustFlaw.Reason] = certificate.extensions.keyUsage.reading(
            absent: [], unreadable: [.unreadableExtension]
        ) { $0.signsCertificates ? [] : [.noSigningOfCertificates] }
        return reasons + usage
    }

    // MARK: Policies

    private func flaws(_ policy: TrustPolicy) -> [TrustFlaw] {
        var flaws: [TrustFlaw] = []
        if let host = policy.host, !work.isLeaf(chain.leaf, for: host) { flaws.append(TrustFlaw(.otherHost, at: 0)) }
        switch policy {
        case .basic: break
        case .client: flaws += otherPurposes([.clientAuthentication], mustSay: false)
        case .server: flaws += serverFlaws
        case .revocation(let flags):
            if flags.contains(.requirePositiveResponse) { flaws.append(TrustFlaw(.revocationUnknown, at: 0)) }
        }
        return flaws
    }

    /// The leaf, and every authority between it and the top, must be meant for one of the purposes if it names any.
    ///
    /// - Parameter mustSay: Whether the leaf has to name one.
    private func otherPurposes(_ purposes: Set<ASN1ObjectIdentifier>, mustSay: Bool) -> [TrustFlaw] {
        (0..<max(1, top)).filter {
            !chain.certificates[$0].isMeant(for: purposes, mustSay: $0 == 0 && mustSay)
        }.map { TrustFlaw(.otherPurpose, at: $0) }
    }

    private var serverFlaws: [TrustFlaw] {
        var flaws: [TrustFlaw] = []
        for (position, certificate) in chain.certificates.enumerated() {
            if certificate.publicKey.isTooSmallForServers { flaws.append(TrustFlaw(.smallKey, at: position)) }
            if judged.indices.contains(position), certificate.signature.scheme?.usesSHA1 ?? false {
                flaws.append(TrustFlaw(.formerDigest, at: position))
            }
        }
        let isNew = chain.leaf.validity.notBefore >= Self.newRules
        flaws += otherPurposes(Self.serverPurposes, mustSay: isNew)
        if isNew, chain.leaf.validity.notAfter > chain.leaf.validity.notBefore + Self.longestValidity {
            flaws.append(TrustFlaw(.longValidity, at: 0))
        }
        return flaws
    }

    /// Since 2019-07-01 Apple's systems want a purpose and a limited validity of every server's certificate.
    private static let newRules = Date(timeIntervalSince1970: 1_561_939_200)
    /// 825 days, and an hour of grace.
    private static let longestValidity: TimeInterval = 825 * 86_400 + 3_600

    /// Servers, and the two purposes of the same meaning that Microsoft and Netscape once defined.
    private static let serverPurposes: Set<ASN1ObjectIdentifier> = [
        [1, 3, 6, 1, 5, 5, 7, 3, 1], [1, 3, 6, 1, 4, 1, 311, 10, 3, 3], [2, 16, 840, 1, 113_730, 4, 1],
    ]
}

extension X509Certificate {
    /// The flaws that a policy finds in the certificate alone, without its issuers.
    package func flawsOfLeaf(_ policy: TrustPolicy, _ date: Date) -> [TrustFlaw] {
        let chain = CertificateChain(certificates: [self], end: .missingIssuer)
        let ofIssuers = TrustFlaw(.missingIssuer, at: 0)
        return ChainJudgement(chain: chain, date: date, work: TrustWork()).flaws([policy]).subtracting([ofIssuers])
            .sorted()
    }

    /// - Parameter mustSay: Whether a certificate without a purpose has the wrong one.
    fileprivate func isMeant(for purposes: Set<ASN1ObjectIdentifier>, mustSay: Bool = false) -> Bool {
        extensions.extendedKeyUsage.reading(absent: !mustSay, unreadable: false) { usage in
            !usage.purposes.isDisjoint(with: mustSay ? purposes : purposes.union([.anyPurpose]))
        }
    }
}

extension PublicKeyInfo {
    fileprivate var isWeak: Bool { isBelow(rsa: 1024, curve: 160) }
    fileprivate var isTooSmallForServers: Bool { isBelow(rsa: 2048, curve: 255) }

    private func isBelow(rsa: Int, curve: Int) -> Bool {
        guard let bitCount else { return false }
        return switch kind {
        case .rsa, .rsaPSS: bitCount < rsa
        case .curve, .ed25519, .other: bitCount < curve
        }
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let clientAuthentication: Self = [1, 3, 6, 1, 5, 5, 7, 3, 2]
    fileprivate static let anyPurpose: Self = [2, 5, 29, 37, 0]
}
