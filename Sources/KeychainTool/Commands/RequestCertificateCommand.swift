internal import ArgumentParser
internal import KeychainCertificates
internal import KeychainKeys
internal import KeychainModel

struct RequestCertificateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr", abstract: "Write a request for a certificate (PKCS#10), signed by a key of the keychain.",
        discussion: """
            The request goes to an authority, and its certificate back into the keychain by 'keychainctl add certificate'. \
            The key stays where it is; one in the engine signs there. The digest is SHA-256, or that of the curve's size.

            Example:
              keychainctl key csr --tag web --subject /C=CH/O=Example/CN=host.example --dns host.example > host.csr
            """)

    enum Form: String, CaseIterable, ExpressibleByArgument { case pem, der }

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: KeyFilter
    @Option(
        help: ArgumentHelp(
            "The subject: /C=CH/O=Example/CN=host.example. A slash in a value is \\/.", valueName: "name"))
    var subject = ""
    @Option(help: ArgumentHelp("A name of the host; may be given several times.", valueName: "host")) var dns:
        [String] = []
    @Option(help: ArgumentHelp("An IP address; may be given several times.", valueName: "address")) var ip: [String] =
        []
    @Option(help: ArgumentHelp("A mail address; may be given several times.", valueName: "address"))
    var email: [String] = []
    @OptionGroup var authentication: AuthenticationOptions
    @Option(help: "The form of the request.") var format = Form.pem
    @Flag(help: "Print a JSON object with the request as PEM.") var json = false

    func validate() throws {
        if subject.isEmpty && dns.isEmpty && ip.isEmpty && email.isEmpty {
            throw ValidationError("A request has a name: --subject, --dns, --ip or --email.")
        }
        if json && format != .pem { throw ValidationError("JSON has the request as PEM.") }
    }

    func run() throws {
        let name = try RequestedName(subject)
        let alternatives =
            try dns.map { try RequestedAlternativeName(host: $0) }
            + ip.map { try RequestedAlternativeName(address: $0) }
            + email.map { try RequestedAlternativeName(mailAddress: $0) }
        let session = try KeychainSession.existing(store, authentication.asking(reason: "request a certificate"))
        let key = try session.privateKey(filter)
        let request = try CertificateRequest(
            subject: name, alternativeNames: alternatives, key: try key.publicHalf)
        let bytes = try request.der(signature: try key.sign(request.content, request.algorithm))
        if format == .der { return try Console.write(SecretBytes(copying: bytes)) }
        let text = PEMBlock.text("CERTIFICATE REQUEST", bytes)
        if json { return try JSONValue.object([("request", text.json)]).writeJSON() }
        try Console.write(text)
    }
}
