package import FoundationEssentials

/// A chain from a leaf upwards, as far as it goes.
struct CertificateChain {
    let certificates: [X509Certificate]
    let end: End

    enum End {
        case anchor
        /// A certificate that signed itself, and is no anchor.
        case selfSigned
        case missingIssuer
        case tooLong
    }

    var leaf: X509Certificate { certificates[0] }

    var isAnchored: Bool { end == .anchor }
}

/// Finds the chains of a leaf, the most promising ones first.
///
/// A certificate is taken for an issuer if its subject is the name that was asked for and its key verifies the signature.
struct ChainSearch {
    private let own: CertificateIndex
    private let system: CertificateIndex
    private let others: CertificateIndex
    private let date: Date
    /// Finds further certificates by their subject.
    private let stored: (Data) -> [X509Certificate]
    private let work: TrustWork

    private var issuersByName: [ComparableName: [Issuer]] = [:]

    static let mostCertificates = 15
    /// The most issuers of one name.
    private static let mostIssuers = 50

    private struct Issuer {
        let certificate: X509Certificate
        let isAnchor: Bool
    }

    init(
        others: [X509Certificate], anchors: (own: CertificateIndex, system: CertificateIndex), date: Date,
        work: TrustWork, stored: @escaping (Data) -> [X509Certificate]
    ) {
        (self.others, self.date, self.work, self.stored) = (CertificateIndex(others), date, work, stored)
        (own, system) = anchors
    }

    /// - Parameter isGoodEnough: It is shown one chain after the other, and ends the search with true.
    mutating func chains(of leaf: X509Certificate, _ isGoodEnough: (CertificateChain) -> Bool) {
        _ = extend([leaf], isGoodEnough)
    }

    /// - Returns: whether the search is at its end.
    private mutating func extend(_ path: [X509Certificate], _ isGoodEnough: (CertificateChain) -> Bool) -> Bool {
        let top = path[path.count - 1]
        func end(_ end: CertificateChain.End) -> Bool {
            work.spend(TrustWork.stepsOfChain)
            return isGoodEnough(CertificateChain(certificates: path, end: end)) || work.isUsedUp
        }
        if isAnchor(top) { return end(.anchor) }
        guard path.count < Self.mostCertificates else { return end(.tooLong) }
        if top.isSelfIssued && work.isIssued(top, by: top) { return end(.selfSigned) }
        var isAtEnd = true
        for issuer in issuers(of: top, besides: path) where !work.isUsedUp {
            work.spend(TrustWork.stepsOfIssuer)
            guard work.isIssued(top, by: issuer) else { continue }
            isAtEnd = false
            if extend(path + [issuer], isGoodEnough) { return true }
        }
        return isAtEnd && end(.missingIssuer)
    }

    private func isAnchor(_ certificate: X509Certificate) -> Bool {
        own.contains(certificate) || system.contains(certificate)
    }

    /// Issuers with the key identifier that the certificate names come first, then anchors, then those that are valid.
    private mutating func issuers(of certificate: X509Certificate, besides path: [X509Certificate]) -> [X509Certificate]
    {
        let candidates = issuers(named: certificate.issuer, certificate.issuerName).filter { issuer in
            !path.contains { $0.isSameAuthority(as: issuer.certificate) }
        }
        let ranked = candidates.enumerated().map { place, issuer -> (rank: Int, issuer: X509Certificate) in
            let isValid = issuer.certificate.validity.contains(date)
            let flags = [!certificate.names(keyOf: issuer.certificate), !issuer.isAnchor, !isValid]
            let rank = flags.reduce(0) { $0 * 2 + ($1 ? 1 : 0) }
            return (rank * Self.mostIssuers + place, issuer.certificate)
        }
        return ranked.sorted { $0.rank < $1.rank }.map(\.issuer)
    }

    /// Each name is asked for once.
    private mutating func issuers(named name: DistinguishedName, _ storedName: Data) -> [Issuer] {
        if let known = issuersByName[name.comparable] { return known }
        let anchors = own.certificates(named: name) + system.certificates(named: name)
        var seen: Set<Data> = []
        let all = (anchors + others.certificates(named: name) + stored(storedName)).filter {
            seen.insert($0.fingerprint).inserted
        }
        let issuers = all.prefix(Self.mostIssuers).map {
            Issuer(certificate: $0, isAnchor: isAnchor($0))
        }
        issuersByName[name.comparable] = issuers
        return issuers
    }
}

extension X509Certificate {
    /// One authority may have several certificates. The authority stands once in a chain.
    fileprivate func isSameAuthority(as other: X509Certificate) -> Bool {
        publicKey.key == other.publicKey.key && subject.comparable == other.subject.comparable
    }

    /// Whether the key identifiers of both agree, as far as there are any.
    func names(keyOf issuer: X509Certificate) -> Bool {
        extensions.authorityKeyIdentifier.reading(absent: true, unreadable: false) { named in
            issuer.extensions.subjectKeyIdentifier.reading(absent: true, unreadable: false) { actual in
                named.identifier.map { $0 == actual.bytes } ?? true
            }
        }
    }
}

extension CertificateValidity {
    package func contains(_ date: Date) -> Bool { notBefore <= date && date <= notAfter }
}
