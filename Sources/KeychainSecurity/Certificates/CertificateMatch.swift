internal import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel

/// The conditions of a search on certificates, and on those of identities, in its match keys. It is looked at after the
/// search, in the bytes of the certificates.
struct CertificateMatch {
    enum Place { case contains, start, end, whole }

    var moment: Date?
    var emailAddress: String?
    /// Contents of names, normalized. One of them has issued the certificate, or one of its issuers.
    var issuers: [Data]?
    /// The purpose that the certificate has to be trusted for.
    var policy: TrustPolicy?
    /// Whether the certificate's chain has to lead to an anchor of the system.
    var isTrustedOnly = false
    var subjects: [(place: Place, text: String)] = []
    var comparison: String.CompareOptions = []

    var isEmpty: Bool {
        moment == nil && emailAddress == nil && issuers == nil && subjects.isEmpty && policy == nil && !isTrustedOnly
    }

    /// How far up the issuers of a certificate are looked at, as Apple's keychain does.
    private static let mostIssuers = 10

    /// - Parameter stored: Finds stored certificates by the normalized content of their subjects.
    func matches(
        _ certificate: SecCertificate, _ stored: (Data) throws(KeychainError) -> [X509Certificate]
    ) throws(KeychainError) -> Bool {
        let contents = certificate.contents
        if let moment, !(contents.validity.notBefore...).contains(moment) || moment > contents.validity.notAfter {
            return false
        }
        if let emailAddress, !contents.emailAddresses.contains(where: { $0.lowercased() == emailAddress.lowercased() })
        {
            return false
        }
        guard subjects.allSatisfy({ isMet($0.place, $0.text, by: contents.summary ?? "") }) else { return false }
        if let issuers, try !isIssued(contents, by: issuers, stored) { return false }
        return try isTrusted(contents, stored)
    }

    /// A policy that is about the leaf looks at nothing above it, as Apple's keychain does.
    private func isTrusted(
        _ certificate: X509Certificate, _ stored: (Data) throws(KeychainError) -> [X509Certificate]
    ) throws(KeychainError) -> Bool {
        let date = moment ?? Date()
        if let policy, !policy.needsChain, !certificate.flawsOfLeaf(policy, date).isEmpty { return false }
        guard isTrustedOnly || policy?.needsChain ?? false else { return true }
        return try withoutActuallyEscaping(stored) { stored throws(KeychainError) in
            var failure: KeychainError?
            let policies = policy.map { [$0] } ?? []
            let evaluation = TrustEvaluation(
                [certificate], policies: policies,
                anchors: TrustAnchors { SystemAnchors.shared.index }, date: date
            ) { name in
                do throws(KeychainError) { return try stored(name) } catch {
                    failure = error
                    return []
                }
            }
            let isTrusted = evaluation.verdict().flaws.isEmpty
            if let failure { throw failure }
            return isTrusted
        }
    }

    private func isMet(_ place: Place, _ text: String, by summary: String) -> Bool {
        let options: String.CompareOptions =
            switch place {
            case .contains: comparison
            case .start, .whole: comparison.union(.anchored)
            case .end: comparison.union([.anchored, .backwards])
            }
        guard let range = summary.range(of: text, options: options) else { return text.isEmpty && place != .whole }
        return place != .whole || range == summary.startIndex..<summary.endIndex
    }

    private func isIssued(
        _ certificate: X509Certificate, by names: [Data],
        _ stored: (Data) throws(KeychainError) -> [X509Certificate]
    ) throws(KeychainError) -> Bool {
        var level = [certificate]
        var seen: Set<Data> = []
        for _ in 0..<Self.mostIssuers {
            let issuers = level.map(\.issuerName)
            if issuers.contains(where: names.contains) { return true }
            level = []
            for name in issuers where seen.insert(name).inserted { level += try stored(name) }
            if level.isEmpty { return false }
        }
        return false
    }
}

extension SecItemDictionary {
    /// The items that match the match keys, at most as many as are asked for.
    func matching(_ items: [Item]) throws(KeychainError) -> [Item] {
        var matching: [Item] = []
        let connection = Connection.current
        let stored = { (name: Data) throws(KeychainError) in try StoredCertificates.named(name, in: connection) }
        for item in items where matching.count < (limit ?? .one).most {
            // Bytes that are no certificate are valid at no time and have no issuer.
            let bytes = item.itemClass == .identity ? item.certificate : item.secret
            guard let certificate = try? SecCertificate(bytes) else { continue }
            if try match.matches(certificate, stored) { matching.append(item) }
        }
        guard !matching.isEmpty else {
            throw KeychainError(.itemNotFound, message: "no \(itemClass.title) is what the match keys ask for")
        }
        return matching
    }
}

extension ItemQuery.Limit {
    fileprivate var most: Int {
        switch self {
        case .one: 1
        case .atMost(let count): count
        case .all: .max
        }
    }
}
