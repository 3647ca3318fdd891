package import Foundation
internal import SwiftASN1

/// Looks for the flaws of one chain.
struct ChainJudgement {
    let chain: CertificateChain
    let date: Date

    func flaws(_ policies: [TrustPolicy]) -> Set<TrustFlaw> {
        var flaws: Set<TrustFlaw> = []
        flaws.formUnion(end)
        for position in chain.certificates.indices {
            let reasons = ownFlaws(position) + (position > 0 ? authorityFlaws(position) : [])
            flaws.formUnion(reasons.map { TrustFlaw($0, at: position) })
        }
        flaws.formUnion(CertificationPolicies(judged).flaw.map { [$0] } ?? [])
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

    private func ownFlaws(_ position: Int) -> [TrustFlaw.Reason] {
        let certificate = chain.certificates[position]
        var reasons: [TrustFlaw.Reason] = []
        if certificate.publicKey.isWeak { reasons.append(.weakKey) }
        let (extensions, isJudged) = (certificate.extensions, judged.indices.contains(position))
        // Extensions of an anchor hold for those below it, so that they have to be understood.
        if isJudged || position > 0 {
            if extensions.hasUnknownCritical { reasons.append(.unknownCriticalExtension) }
            if extensions.isUnreadable { reasons.append(.unreadableExtension) }
            if extensions.hasDuplicate { reasons.append(.duplicateExtension) }
        }
        // An anchor is trusted in all else.
        guard isJudged else { return reasons }
        if !certificate.validity.contains(date) { reasons.append(.date) }
        if certificate.signature.scheme == .brokenDigest { reasons.append(.brokenDigest) }
        if certificate.subject.attributes.isEmpty
            && !(position == 0 && extensions.has(.subjectAlternativeName, critical: true))
        {
            reasons.append(.emptySubject)
        }
        if position < top, !certificate.names(keyOf: chain.certificates[position + 1]) {
            reasons.append(.otherKeyIdentifier)
        }
        if !constraintsPermit(position) { reasons.append(.nameConstraints) }
        return reasons
    }

    /// Name constraints hold for all certificates below, besides those that an authority issued to itself, like a new one for a new key.
    private func constraintsPermit(_ position: Int) -> Bool {
        let certificate = chain.certificates[position]
        if position > 0 && certificate.isSelfIssued { return true }
        return chain.certificates[(position + 1)...].allSatisfy {
            $0.extensions.nameConstraints?.permits(certificate) ?? true
        }
    }

    /// The flaws of a certificate that issued another one. Only an anchor from before version 3 need not say that it is an
    /// authority's: a leaf that a program trusts is none.
    private func authorityFlaws(_ position: Int) -> [TrustFlaw.Reason] {
        let certificate = chain.certificates[position]
        let extensions = certificate.extensions
        var reasons: [TrustFlaw.Reason] = []
        if let constraints = extensions.basicConstraints {
            if !constraints.isAuthority { reasons.append(.noAuthority) }
            // Between it and the leaf.
            let below = chain.certificates[1..<position].count { !$0.isSelfIssued }
            if let most = constraints.mostIntermediates, below > most { reasons.append(.tooManyIntermediates) }
        } else if judged.indices.contains(position) || certificate.version == 3 {
            reasons.append(.noBasicConstraints)
        }
        if let usage = extensions.keyUsage, !usage.signsCertificates { reasons.append(.noSigningOfCertificates) }
        return reasons
    }

    // MARK: Policies

    private func flaws(_ policy: TrustPolicy) -> [TrustFlaw] {
        var flaws: [TrustFlaw] = []
        if let host = policy.host, !HostName.matches(host, chain.leaf) { flaws.append(TrustFlaw(.otherHost, at: 0)) }
        switch policy {
        case .basic: break
        case .client:
            if !chain.leaf.isMeant(for: [.clientAuthentication]) { flaws.append(TrustFlaw(.otherPurpose, at: 0)) }
        case .server: flaws += serverFlaws
        case .revocation(let flags):
            if flags.contains(.requirePositiveResponse) { flaws.append(TrustFlaw(.revocationUnknown, at: 0)) }
        }
        return flaws
    }

    private var serverFlaws: [TrustFlaw] {
        var flaws: [TrustFlaw] = []
        for (position, certificate) in chain.certificates.enumerated() {
            if certificate.publicKey.isTooSmallForServers { flaws.append(TrustFlaw(.smallKey, at: position)) }
            if judged.indices.contains(position), certificate.signature.scheme?.usesSHA1 ?? false {
                flaws.append(TrustFlaw(.formerDigest, at: position))
            }
        }
        // A leaf that is an anchor was chosen for itself.
        let isNew = judged.contains { $0 === chain.leaf } && chain.leaf.validity.notBefore >= Self.newRules
        if !chain.leaf.isMeant(for: Self.serverPurposes, mustSay: isNew) {
            flaws.append(TrustFlaw(.otherPurpose, at: 0))
        }
        if isNew, chain.leaf.validity.notAfter > chain.leaf.validity.notBefore + Self.longestValidity {
            flaws.append(TrustFlaw(.longValidity, at: 0))
        }
        if chain.end == .anchor(.system) {
            for position in 1..<max(1, top) where !chain.certificates[position].isMeant(for: Self.serverPurposes) {
                flaws.append(TrustFlaw(.otherPurpose, at: position))
            }
        }
        return flaws
    }

    /// Since 2019-07-01 Apple's systems want a purpose and a limited validity of every server's certificate.
    private static let newRules = Date(timeIntervalSince1970: 1_561_939_200)
    private static let longestValidity: TimeInterval = 825 * 86_400

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
        return ChainJudgement(chain: chain, date: date).flaws([policy]).subtracting([ofIssuers]).sorted()
    }

    var isSelfIssued: Bool { issuerName == subjectName }

    /// - Parameter mustSay: Whether a certificate without a purpose has the wrong one.
    fileprivate func isMeant(for purposes: Set<ASN1ObjectIdentifier>, mustSay: Bool = false) -> Bool {
        guard let usage = extensions.extendedKeyUsage else { return !mustSay }
        return usage.purposes.contains { purposes.contains($0) || ($0 == .anyPurpose && !mustSay) }
    }
}

extension PublicKeyInfo {
    /// Also of a kind whose strength is not known here.
    fileprivate var isWeak: Bool { isBelow(rsa: 1024, curve: 160) }
    fileprivate var isTooSmallForServers: Bool { isBelow(rsa: 2048, curve: 255) }

    private func isBelow(rsa: Int, curve: Int) -> Bool {
        guard let bitCount else { return true }
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
