internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainModel

struct TrustReport: Report {
    static let fields: [Field<Self>] = [
        Field("trusted", "whether nothing is wrong with the chain") { $0.verdict.flaws.isEmpty },
        Field("chain", "an array of objects, from the certificate that is judged upwards") { $0.links },
    ]

    /// A certificate of the chain, with its flaws.
    struct Link: Keyed {
        static let fields: [Field<Self>] = [
            Field("subject", "the certificate's name") { $0.certificate.name },
            Field("notBefore", "a date") { Timestamp.text($0.certificate.validity.notBefore) },
            Field("notAfter", "a date") { Timestamp.text($0.certificate.validity.notAfter) },
            Field("flaws", "an array of objects: Apple's `status`, Apple's name of the `check`, and a `text`") {
                $0.flaws
            },
        ]

        let certificate: X509Certificate
        let flaws: [TrustFlaw.Reason]
    }

    private let verdict: TrustEvaluation.Verdict
    private let host: String?

    init(_ verdict: TrustEvaluation.Verdict, host: String?) { (self.verdict, self.host) = (verdict, host) }

    /// One line for each certificate, with its end and its flaws.
    var text: String {
        let lines = links.map { link in
            let reasons = link.flaws.map { ", " + $0.explanation }.joined()
            let end = Timestamp.short(link.certificate.validity.notAfter.timeIntervalSinceReferenceDate)
            return "  \(TerminalText.escape(link.certificate.name)): until \(end)\(reasons)\n"
        }
        let purpose = host.map { " for \(TerminalText.escape($0))" } ?? ""
        let verb = verdict.flaws.isEmpty ? "is trusted" : "is not trusted"
        return "\(TerminalText.escape(verdict.chain[0].name)) \(verb)\(purpose):\n" + lines.joined()
    }

    /// The heaviest flaw. All flaws have the same status. nil: the certificate is trusted.
    var failure: KeychainError? {
        verdict.flaws.first.map { flaw in
            KeychainError(
                KeychainError.Code(status: TrustFlaw.Reason.untrustedRoot.status),
                message: "the certificate \(verdict.chain[flaw.position].name) \(flaw.reason.explanation)")
        }
    }

    private var links: [Link] {
        verdict.chain.enumerated().map { position, certificate in
            Link(
                certificate: certificate, flaws: verdict.flaws.filter { $0.position == position }.map(\.reason))
        }
    }
}

extension X509Certificate {
    fileprivate var name: String { summary ?? "(no subject)" }
}

extension TrustFlaw.Reason: Keyed {
    static let fields: [Field<Self>] = [
        Field("status", "Apple's") { $0.status }, Field("check", "Apple's name of it") { $0.rawValue },
        Field("text", "the flaw in words") { $0.explanation },
    ]
}
