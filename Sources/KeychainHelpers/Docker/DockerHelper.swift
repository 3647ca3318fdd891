internal import KeychainModel
internal import KeychainSystem

/// `docker-credential-keychain`: the credential helper of docker, podman, buildah and skopeo.
///
/// A failure is a text on standard output and the status 1. Three texts have a meaning of their own to the clients. Any
/// other text stops a client.
enum DockerHelper: Helper {
    static let name = "docker-credential-keychain"

    private static let notFound = "credentials not found in native keychain"
    private static let noServer = "no credentials server URL"
    private static let noUsername = "no credentials username"

    static func answerOutOfTime(_ arguments: [String]) -> String { "the keychain did not answer in time\n" }

    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32 {
        do {
            switch arguments.first {
            case "get": try get(try url(console), console)
            case "store": try store(try JSONMessage.decode(DockerCredential.self, try console.read(), from: "docker"))
            case "erase": try erase(try url(console))
            case "list": try list(console)
            case "version", "--version", "-v": try console.write("\(name) (swift-keychain) \(Release.version)\n")
            default:
                console.complain("docker calls this program with get, store, erase, list or version")
                return 64
            }
            return 0
        } catch {
            // Clients show standard output on a terminal, and nothing of standard error.
            console.writeLast(TerminalText.escape(HelperConsole.text(of: error)) + "\n")
            return 1
        }
    }

    private static var items: HelperItems { HelperItems(.internetPassword, mark: "registry credential") }

    private static func url(_ console: HelperConsole) throws -> String {
        try trimmed(try console.read().text("the URL"))
    }

    /// The URL without the line end that some clients send.
    private static func trimmed(_ url: String) throws -> String {
        let url = url.trimming(while: \.isWhitespace)
        if url.isEmpty { throw HelperFailure(noServer) }
        return url
    }

    /// The URL is the item's server, byte by byte as docker gave it: docker asks for it in the same form.
    private static func scope(_ url: String) -> AttributeSet { [.server: .text(url)] }

    // MARK: Operations

    private static func get(_ url: String, _ console: HelperConsole) throws {
        let items = items
        guard let item = try items.find(scope(url)).first else { throw HelperFailure(notFound) }
        let credential = DockerCredential(
            serverURL: url, username: item.text(.account) ?? "",
            secret: try items.secret(of: item).text("the stored secret"))
        try console.write(try JSONMessage.line(credential))
    }

    private static func store(_ credential: DockerCredential) throws {
        let url = try trimmed(credential.serverURL)
        if credential.username.isEmpty { throw HelperFailure(noUsername) }
        var attributes = scope(url)
        attributes[.account] = .text(credential.username)
        attributes[.path] = .text("")
        attributes[.securityDomain] = .text("")
        attributes[.port] = .number(0)
        attributes[.internetProtocol] = .number(0)
        attributes[.authenticationType] = .text("")
        try items.store(
            SecretBytes(credential.secret), attributes, label: url, replacing: scope(url))
    }

    private static func erase(_ url: String) throws {
        if try items.erase(scope(url)) == 0 { throw HelperFailure(notFound) }
    }

    /// The oldest item is taken first, so that a later item for the same URL counts, as it does for get.
    private static func list(_ console: HelperConsole) throws {
        var users: [String: String] = [:]
        for item in try items.find(AttributeSet(), leavingOut: true).reversed() {
            if let url = item.text(.server) { users[url] = item.text(.account) ?? "" }
        }
        try console.write(try JSONMessage.line(users))
    }
}
