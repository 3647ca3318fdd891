internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel

struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Tell whether a certificate is trusted, and why not.",
        discussion: """
            The first certificate of the files is judged. The others, and those in the keychain, may be its authorities. \
            Nothing is fetched over the network, and no revocation is looked for.

            Ends with 0 if the certificate is trusted, and with 253 if it is not.

            Examples:
              keychainctl trust chain.pem --host www.example.org
              keychainctl trust client.pem --client --anchor our-authority.pem --at 2027-01-31
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var input: CertificateInput
    @Option(help: "The host or address of the server that the certificate is for.") var host: String?
    @Flag(help: "Judge the certificate of a client of TLS.") var client = false
    @Option(
        name: .customLong("anchor"),
        help: "A file of certificates that are trusted, instead of the system's. It may be given several times.",
        completion: .file())
    var anchors: [String] = []
    @Option(help: "The moment for which to judge, as a date or a date with a time.") var at: Moment?
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if host != nil && client { throw ValidationError("--host is for servers: leave out --client.") }
        if anchors.contains(where: FileInput.isStandardInput) {
            throw ValidationError("An anchor is in a file: standard input is for what is judged.")
        }
    }

    func run() throws {
        let certificates = try input.read().certificates
        guard !certificates.isEmpty else { throw KeychainError(.parameter, message: "the files have no certificate") }
        let own = try anchors.flatMap(Self.anchors)
        let connection = try KeychainSession(store).connection
        var evaluation = TrustEvaluation(
            certificates, policies: [policy],
            anchors: TrustAnchors(own: own.isEmpty ? nil : own, includesSystem: own.isEmpty) {
                SystemAnchors.shared.index
            },
            date: at?.date ?? Date())
        // A keychain that does not answer counts as one without certificates.
        evaluation.stored = { name in
            ((try? connection.certificates(named: name)) ?? []).compactMap { try? X509Certificate($0) }
        }
        let report = TrustReport(verdict: evaluation.verdict(), host: host)
        try report.write(json: json)
        if let failure = report.failure { throw failure }
    }

    private var policy: TrustPolicy {
        if client { return .client(host: nil) }
        return host == nil ? .basic : .server(host: host)
    }

    private static func anchors(in path: String) throws -> [X509Certificate] {
        let bytes = try FileInput.read(
            path, limit: CertificateFile.mostBytes, otherwise: "\(path): a file of certificates has at most 4 MiB")
        guard case .plain(let certificates, _) = try CertificateFile(bytes.copyData()), !certificates.isEmpty else {
            throw KeychainError(.parameter, message: "\(path) has no certificates: anchors are in DER, PEM or PKCS#7")
        }
        return certificates
    }
}

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

    let verdict: TrustEvaluation.Verdict
    let host: String?

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
