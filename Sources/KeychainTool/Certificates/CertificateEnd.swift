internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel

/// The end of a certificate's validity, seen from one moment.
struct CertificateEnd: Keyed {
    static let fields: [Field<Self>] = [
        Field("notAfter", "the date after which it is not valid") { Timestamp.text($0.date) },
        Field("validity", "`notYetValid`, `valid`, `expiring` (within 30 days) or `expired`") { $0.state.rawValue },
    ]

    enum State: String { case notYetValid, valid, expiring, expired }

    /// The 30 days before the end, in which a person can renew a certificate without haste.
    static let notice: TimeInterval = 30 * 86_400

    let date: Date
    let state: State

    init(_ validity: CertificateValidity, now: Date) {
        date = validity.notAfter
        state =
            if validity.notAfter < now {
                .expired
            } else if validity.notBefore > now {
                .notYetValid
            } else {
                validity.notAfter < now + Self.notice ? .expiring : .valid
            }
    }

    private var text: String { Timestamp.short(date.timeIntervalSinceReferenceDate) }

    /// The words for a table; nil: the certificate needs no care yet.
    var remark: String? {
        switch state {
        case .valid, .notYetValid: nil
        case .expiring: "expires \(text)"
        case .expired: "expired \(text)"
        }
    }
}

extension KeychainSession {
    /// The ends of the certificates and identities among items, by their identifiers. An item whose bytes are locked,
    /// or are no certificate, has no end.
    func certificateEnds(of items: [Item], now: Date) throws(KeychainError) -> [UUID: CertificateEnd] {
        var ends: [UUID: CertificateEnd] = [:]
        for item in items where item.itemClass.hasCertificate {
            guard let certificate = try certificate(item.identifier) else { continue }
            ends[item.identifier] = CertificateEnd(certificate.validity, now: now)
        }
        return ends
    }

    /// - Parameter identifier: The certificate's. Its identity has the same one.
    /// - Returns: nil if the item cannot be read without a question, or is no certificate.
    func certificate(_ identifier: UUID) throws(KeychainError) -> X509Certificate? {
        var query = ItemQuery(exactly: PersistentReference(itemClass: .certificate, identifier: identifier))
        query.authenticationUI = .skip
        do throws(KeychainError) {
            guard let bytes = try connection.items(query, wantsSecrets: true, asking).first?.secret else { return nil }
            return try? X509Certificate(bytes.copyData())  // any bytes may be stored as a certificate
        } catch  where error.code == .interactionNotAllowed {
            return nil
        }
    }

    /// All certificates that can be read without a question to a person.
    func certificates() throws(KeychainError) -> [X509Certificate] {
        // Any bytes may be stored as a certificate.
        try connection.certificates().compactMap { try? X509Certificate($0) }
    }
}

/// Certificates that have expired or are about to, for `doctor`.
enum CertificateFindings {
    private static let mostNamed = 10

    /// - Throws: `.interactionNotAllowed` if the keychain is locked.
    static func all(in session: KeychainSession, now: Date = Date()) throws(KeychainError) -> [StoreFinding] {
        let due = try session.certificates().map { ($0, CertificateEnd($0.validity, now: now)) }
            .filter { $0.1.remark != nil }.sorted { $0.1.date < $1.1.date }
        var findings = due.prefix(mostNamed).map { certificate, end in
            StoreFinding(
                .note, "the certificate \(certificate.summary ?? "without a name") \(end.remark ?? "")",
                advice: end.state == .expired
                    ? "if nothing uses it any more, delete it with 'keychainctl delete certificate'"
                    : "renew it: 'keychainctl key csr' asks for another one with the same key")
        }
        if due.count > mostNamed {
            findings.add(
                .note, "\(due.count - mostNamed) more certificates have expired or expire within 30 days",
                advice: "'keychainctl find certificate --expiring 30d' lists them")
        }
        return findings
    }
}
