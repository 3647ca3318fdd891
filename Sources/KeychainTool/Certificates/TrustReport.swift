internal import Foundation
internal import KeychainCertificates
internal import KeychainModel

struct TrustReport {
    private let verdict: TrustEvaluation.Verdict
    private let host: String?

    init(_ verdict: TrustEvaluation.Verdict, host: String?) { (self.verdict, self.host) = (verdict, host) }

    /// One line for each certificate, with its end and its flaws.
    var text: String {
        let lines = verdict.chain.enumerated().map { position, certificate in
            let reasons = reasons(position).map { ", " + $0.explanation }.joined()
            let end = Timestamp.short(certificate.validity.notAfter.timeIntervalSinceReferenceDate)
            return "  \(TerminalText.escape(name(certificate))): until \(end)\(reasons)\n"
        }
        let purpose = host.map { " for \(TerminalText.escape($0))" } ?? ""
        let verb = verdict.flaws.isEmpty ? "is trusted" : "is not trusted"
        return "\(TerminalText.escape(name(verdict.chain[0]))) \(verb)\(purpose):\n" + lines.joined()
    }

    var json: JSONValue {
        let chain = verdict.chain.enumerated().map { position, certificate -> JSONValue in
            let validity = certificate.validity
            return .object([
                ("subject", .string(name(certificate))),
                ("notBefore", .string(Timestamp.text(validity.notBefore.timeIntervalSinceReferenceDate))),
                ("notAfter", .string(Timestamp.text(validity.notAfter.timeIntervalSinceReferenceDate))),
                (
                    "flaws",
                    .array(
                        reasons(position).map {
                            .object([
                                ("status", .number(Int64($0.status))), ("check", .string($0.rawValue)),
                                ("text", .string($0.explanation)),
                            ])
                        })
                ),
            ])
        }
        return .object([("trusted", .boolean(verdict.flaws.isEmpty)), ("chain", .array(chain))])
    }

    /// The heaviest flaw. All flaws have the same status. nil: the certificate is trusted.
    var failure: KeychainError? {
        verdict.flaws.first.map { flaw in
            KeychainError(
                KeychainError.Code(status: TrustFlaw.Reason.untrustedRoot.status),
                message: "the certificate \(name(verdict.chain[flaw.position])) \(flaw.reason.explanation)")
        }
    }

    private func reasons(_ position: Int) -> [TrustFlaw.Reason] {
        verdict.flaws.filter { $0.position == position }.map(\.reason)
    }

    private func name(_ certificate: X509Certificate) -> String { certificate.summary ?? "(no subject)" }
}
