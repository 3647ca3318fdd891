internal import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import SwiftKeychain

/// What the match keys of a search ask of certificates, and of those of identities. It is looked at after the search, in the bytes of the
/// certificates.
struct CertificateMatch {
    enum Place { case contains, start, end, whole }

    var moment: Date?
    var emailAddress: String?
    /// Contents of names, normalized. One of them has issued the certificate, or one of its issuers.
    var issuers: [Data]?
    var subjects: [(place: Place, text: String)] = []
    var comparison: String.CompareOptions = []

    var isEmpty: Bool { moment == nil && emailAddress == nil && issuers == nil && subjects.isEmpty }

    /// How far up the issuers of a certificate are looked at, as Apple's keychain does.
    private static let mostIssuers = 10

    /// - Parameter certificates: Finds stored certificates by the normalized content of their subjects.
    func matches(
        _ certificate: SecCertificate, _ certificates: (Data) throws(KeychainError) -> [SecCertificate]
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
        return try issuers.map { names throws(KeychainError) in
            try isIssued(certificate, by: names, certificates)
        } ?? true
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
        _ certificate: SecCertificate, by names: [Data],
        _ certificates: (Data) throws(KeychainError) -> [SecCertificate]
    ) throws(KeychainError) -> Bool {
        var level = [certificate]
        var seen: Set<Data> = []
        for _ in 0..<Self.mostIssuers {
            let issuers = level.compactMap { try? $0.contents.issuer.normalizedContent }
            if issuers.contains(where: names.contains) { return true }
            level = []
            for name in issuers where seen.insert(name).inserted { level += try certificates(name) }
            if level.isEmpty { return false }
        }
        return false
    }
}

extension SecItemDictionary {
    /// Those of the items that the match keys mean, at most as many as are asked for.
    func matching(_ items: [Item]) throws(KeychainError) -> [Item] {
        var matching: [Item] = []
        for item in items where matching.count < (limit ?? .one).most {
            // What is no certificate is valid at no time, and nobody has issued it.
            let bytes = item.itemClass == .identity ? item.certificate : item.secret
            guard let certificate = try? SecCertificate(bytes) else { continue }
            if try match.matches(certificate, certificates) { matching.append(item) }
        }
        guard !matching.isEmpty else {
            throw KeychainError(.itemNotFound, message: "no \(itemClass.title) is what the match keys ask for")
        }
        return matching
    }

    private func certificates(withSubject name: Data) throws(KeychainError) -> [SecCertificate] {
        var query = ItemQuery(.certificate)
        query.attributes = [.subject: .data(name)]
        query.synchronizable = .any
        query.limit = .all
        do throws(KeychainError) {
            guard case .found(let items) = try perform(.find(FindRequest(query, wantsSecrets: true))) else { return [] }
            return items.compactMap { try? SecCertificate($0.secret) }
        } catch  where error.code == .itemNotFound {
            return []
        }
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
