package import Foundation

/// A chain from a leaf upwards, as far as it goes.
struct CertificateChain {
    let certificates: [X509Certificate]
    let end: End

    enum End: Equatable {
        case anchor(TrustAnchors.Origin)
        /// A certificate that signed itself, and is no anchor.
        case selfSigned
        case missingIssuer
        case tooLong
    }

    var leaf: X509Certificate { certificates[0] }

    var isAnchored: Bool {
        if case .anchor = end { true } else { false }
    }
}

/// Finds the chains of a leaf, the most promising ones first.
///
/// A certificate is taken for an issuer if its subject is the name that was asked for and its key verifies the signature. The
/// numbers of signatures, steps and chains are limited: a stranger's certificates could else have a program search for ever.
struct ChainSearch {
    private let own: CertificateIndex
    private let system: CertificateIndex
    private let others: CertificateIndex
    private let date: Date
    /// Finds further certificates by their subject.
    private let stored: (Data) -> [X509Certificate]

    private var verified: [Link: Bool] = [:]
    private var issuersByName: [Data: [X509Certificate]] = [:]
    private var stepCount = 0
    private var chainCount = 0

    static let mostCertificates = 15
    private static let mostSignatures = 200
    private static let mostSteps = 400
    /// Of those that are shown.
    private static let mostChains = 10
    /// Of one name.
    private static let mostIssuers = 50

    /// By their bytes: the address of an object that is gone may be another certificate's.
    private struct Link: Hashable {
        let certificate: Data
        let issuer: Data
    }

    init(
        others: [X509Certificate], anchors: (own: CertificateIndex, system: CertificateIndex), date: Date,
        stored: @escaping (Data) -> [X509Certificate]
    ) {
        (self.others, self.date, self.stored) = (CertificateIndex(others), date, stored)
        (own, system) = anchors
    }

    /// - Parameter isGoodEnough: It is shown one chain after the other, and ends the search with true.
    mutating func chains(of leaf: X509Certificate, _ isGoodEnough: (CertificateChain) -> Bool) {
        _ = extend([leaf], isGoodEnough)
    }

    private mutating func extend(_ path: [X509Certificate], _ isGoodEnough: (CertificateChain) -> Bool) -> Bool {
        let top = path[path.count - 1]
        func end(_ end: CertificateChain.End) -> Bool {
            chainCount += 1
            return isGoodEnough(CertificateChain(certificates: path, end: end)) || chainCount >= Self.mostChains
        }
        if own.contains(top) { return end(.anchor(.own)) }
        if system.contains(top) { return end(.anchor(.system)) }
        guard path.count < Self.mostCertificates else { return end(.tooLong) }
        if top.isSelfIssued && isIssued(top, by: top) { return end(.selfSigned) }
        var isAtEnd = true
        for issuer in issuers(of: top, besides: path) {
            stepCount += 1
            guard stepCount <= Self.mostSteps else { break }
            guard isIssued(top, by: issuer) else { continue }
            isAtEnd = false
            if extend(path + [issuer], isGoodEnough) { return true }
        }
        return isAtEnd && end(.missingIssuer)
    }

    /// Issuers with the key identifier that the certificate names come first, then anchors, then those that are valid.
    private mutating func issuers(of certificate: X509Certificate, besides path: [X509Certificate]) -> [X509Certificate]
    {
        let candidates = issuers(named: certificate.issuerName).filter { issuer in
            !path.contains { $0.isSameAuthority(as: issuer) }
        }
        let ranked = candidates.enumerated().map { place, issuer -> (rank: Int, issuer: X509Certificate) in
            let isAnchor = own.contains(issuer) || system.contains(issuer)
            let flags = [!certificate.names(keyOf: issuer), !isAnchor, !issuer.validity.contains(date)]
            let rank = flags.reduce(0) { $0 * 2 + ($1 ? 1 : 0) }
            return (rank * Self.mostIssuers + place, issuer)
        }
        return ranked.sorted { $0.rank < $1.rank }.map(\.issuer)
    }

    /// Each name is asked for once.
    private mutating func issuers(named name: Data) -> [X509Certificate] {
        if let known = issuersByName[name] { return known }
        let anchors = own.certificates(named: name) + system.certificates(named: name)
        var seen: Set<Data> = []
        let all = (anchors + others.certificates(named: name) + stored(name)).filter { seen.insert($0.der).inserted }
        let issuers = Array(all.prefix(Self.mostIssuers))
        issuersByName[name] = issuers
        return issuers
    }

    private mutating func isIssued(_ certificate: X509Certificate, by issuer: X509Certificate) -> Bool {
        let link = Link(certificate: certificate.der, issuer: issuer.der)
        if let isValid = verified[link] { return isValid }
        guard verified.count < Self.mostSignatures else { return false }
        let isValid = certificate.signature.isValid(by: issuer.publicKey)
        verified[link] = isValid
        return isValid
    }
}

extension X509Certificate {
    /// One authority may have several certificates. In a chain it stands once.
    fileprivate func isSameAuthority(as other: X509Certificate) -> Bool {
        publicKey.key == other.publicKey.key && subjectName == other.subjectName
    }

    /// Whether the key identifiers of both agree, as far as there are any.
    func names(keyOf issuer: X509Certificate) -> Bool {
        guard let named = extensions.authorityKeyIdentifier, let actual = issuer.extensions.subjectKeyIdentifier else {
            return true
        }
        return named == actual
    }
}

extension CertificateValidity {
    package func contains(_ date: Date) -> Bool { notBefore <= date && date <= notAfter }
}
