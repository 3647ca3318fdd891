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
/// A certificate is taken for an issuer if its subject is the name that was asked for and its key verifies the signature. Both the number of
/// signatures and that of steps are limited: whoever sends certificates could else have a program search for ever.
struct ChainSearch {
    private let own: CertificateIndex
    private let system: CertificateIndex
    private let others: CertificateIndex
    private let date: Date
    /// Finds further certificates by their subject.
    private let stored: (Data) -> [X509Certificate]

    private var verified: [Link: Bool] = [:]
    private var stepCount = 0

    static let mostCertificates = 15
    private static let mostSignatures = 200
    private static let mostSteps = 1000

    private struct Link: Hashable {
        let certificate: ObjectIdentifier
        let issuer: ObjectIdentifier
    }

    init(
        others: [X509Certificate], anchors: (own: CertificateIndex, system: CertificateIndex), date: Date,
        stored: @escaping (Data) -> [X509Certificate]
    ) {
        (self.others, self.date, self.stored) = (CertificateIndex(others), date, stored)
        (own, system) = anchors
    }

    /// - Parameter isGoodEnough: It is shown one chain after the other, and ends the search.
    mutating func chains(of leaf: X509Certificate, _ isGoodEnough: (CertificateChain) -> Bool) {
        _ = extend([leaf], isGoodEnough)
    }

    private mutating func extend(_ path: [X509Certificate], _ isGoodEnough: (CertificateChain) -> Bool) -> Bool {
        let top = path[path.count - 1]
        func end(_ end: CertificateChain.End) -> Bool { isGoodEnough(CertificateChain(certificates: path, end: end)) }
        if own.contains(top) { return end(.anchor(.own)) }
        if system.contains(top) { return end(.anchor(.system)) }
        guard path.count < Self.mostCertificates else { return end(.tooLong) }
        let isSelfIssued = top.issuerName == top.subjectName
        if isSelfIssued && isIssued(top, by: top) { return end(.selfSigned) }
        var isAtEnd = true
        for issuer in issuers(of: top) where !path.contains(where: { $0.isSameAuthority(as: issuer) }) {
            stepCount += 1
            guard stepCount <= Self.mostSteps else { break }
            guard isIssued(top, by: issuer) else { continue }
            isAtEnd = false
            if extend(path + [issuer], isGoodEnough) { return true }
        }
        return isAtEnd && end(.missingIssuer)
    }

    /// Anchors come first, then what the key identifier means, then what is valid.
    private func issuers(of certificate: X509Certificate) -> [X509Certificate] {
        let name = certificate.issuerName
        let anchors = own.certificates(named: name) + system.certificates(named: name)
        let found = others.certificates(named: name) + stored(name)
        var seen: Set<Data> = []
        let candidates = (anchors + found).filter { seen.insert($0.der).inserted }
        func rank(_ issuer: X509Certificate) -> Int {
            (certificate.names(keyOf: issuer) ? 0 : 2) + (issuer.validity.contains(date) ? 0 : 1)
        }
        let isAnchor = Set(anchors.map(\.der))
        let ranked = candidates.enumerated().sorted { one, other in
            func key(_ entry: (offset: Int, element: X509Certificate)) -> (Int, Int, Int) {
                (rank(entry.element) / 2, isAnchor.contains(entry.element.der) ? 0 : 1, rank(entry.element))
            }
            return key(one) < key(other) || (key(one) == key(other) && one.offset < other.offset)
        }
        return ranked.map(\.element)
    }

    private mutating func isIssued(_ certificate: X509Certificate, by issuer: X509Certificate) -> Bool {
        let link = Link(certificate: ObjectIdentifier(certificate), issuer: ObjectIdentifier(issuer))
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
