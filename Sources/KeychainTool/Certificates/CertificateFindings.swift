internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainModel

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
            findings.append(
                StoreFinding(
                    .note, "\(due.count - mostNamed) more certificates have expired or expire within 30 days",
                    advice: "'keychainctl find certificate --expiring 30d' lists them"))
        }
        return findings
    }
}
