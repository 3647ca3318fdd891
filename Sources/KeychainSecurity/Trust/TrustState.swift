internal import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel

/// The settings of a ``SecTrust``, and the outcome of its evaluation.
struct TrustState: Sendable {
    /// The leaf first.
    let certificates: [SecCertificate]
    var policies: [SecPolicy]
    var anchors: [SecCertificate]?
    var usesAnchorsOnly = false
    /// nil until it is set, or first asked for.
    var date: Date?
    /// nil until it is set.
    var fetchesFromNetwork: Bool?
    var exceptions: TrustExceptions?
    /// The keychain in which further certificates are looked for.
    let connection: Connection

    private(set) var outcome: TrustOutcome?

    init(_ certificates: [SecCertificate], _ policies: [SecPolicy], _ connection: Connection) {
        (self.certificates, self.policies, self.connection) = (certificates, policies, connection)
    }

    /// Changes a setting. The former result counts no longer.
    mutating func set<Value>(_ setting: WritableKeyPath<TrustState, Value>, _ value: Value) {
        self[keyPath: setting] = value
        forget()
    }

    mutating func forget() { outcome = nil }

    mutating func evaluated() -> TrustOutcome {
        if let outcome { return outcome }
        let date = date ?? Date()
        let verdict = evaluation(date).verdict()
        let new = TrustOutcome(
            chain: verdict.chain.map(certificate), flaws: verdict.flaws, date: date, exceptions: exceptions)
        outcome = new
        return new
    }

    private func evaluation(_ date: Date) -> TrustEvaluation {
        var evaluation = TrustEvaluation(
            certificates.map(\.contents), policies: policies.map(\.policy),
            anchors: TrustAnchors(own: anchors?.map(\.contents), includesSystem: !usesAnchorsOnly) {
                SystemAnchors.shared.index
            },
            date: date)
        // A keychain that does not answer has no certificates for this purpose: the verdict is about those at hand.
        evaluation.stored = { [connection] name in (try? StoredCertificates.named(name, in: connection)) ?? [] }
        return evaluation
    }

    /// The object that the caller gave, if it did.
    private func certificate(_ contents: X509Certificate) -> SecCertificate {
        certificates.first { $0.contents === contents } ?? SecCertificate(contents)
    }
}

/// The outcome of one evaluation.
struct TrustOutcome: Sendable {
    /// The leaf first.
    let chain: [SecCertificate]
    let flaws: [TrustFlaw]
    let date: Date
    let result: SecTrustResultType
    /// The flaws that no exception excuses, the heaviest first.
    let remaining: [TrustFlaw]

    init(chain: [SecCertificate], flaws: [TrustFlaw], date: Date, exceptions: TrustExceptions?) {
        (self.chain, self.flaws, self.date) = (chain, flaws, date)
        remaining = flaws.filter { !(exceptions?.excuse($0, of: chain[$0.position]) ?? false) }
        result =
            if remaining.contains(where: \.reason.isFatal) {
                .fatalTrustFailure
            } else if !remaining.isEmpty {
                .recoverableTrustFailure
            } else {
                exceptions == nil ? .unspecified : .proceed
            }
    }

    var isTrusted: Bool { remaining.isEmpty }

    /// The error that names the heaviest flaw, and all flaws beneath it; nil of a chain that is trusted.
    var error: NSError? {
        guard let flaw = remaining.first else { return nil }
        let all = remaining.map(sentence).joined(separator: " ")
        let underlying = NSError(
            domain: NSOSStatusErrorDomain, code: Int(flaw.reason.status), userInfo: [NSLocalizedDescriptionKey: all])
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(flaw.reason.status),
            userInfo: [NSLocalizedDescriptionKey: sentence(flaw), NSUnderlyingErrorKey: underlying])
    }

    func sentence(_ flaw: TrustFlaw) -> String { "The certificate \(name(flaw)) \(flaw.reason.explanation)." }

    private func name(_ flaw: TrustFlaw) -> String {
        chain[flaw.position].contents.summary.map { "“\($0)”" } ?? "without a subject"
    }
}
