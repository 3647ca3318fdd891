internal import FoundationEssentials
internal import KeychainModel

/// `git-credential-keychain`: git's credential helper (gitcredentials(7)).
enum GitHelper: Helper {
    static let name = "git-credential-keychain"

    /// git asks the next helper, and then the person, if a helper gives no answer. A password that a person types
    /// because the keychain is locked would be a second one for the same account. This line makes git stop instead.
    private static let stop = "quit=1\n"
    private static let askWhenLocked = "--ask-when-locked"

    static func answerOutOfTime(_ arguments: [String]) -> String { stops(arguments) ? stop : "" }

    private static func stops(_ arguments: [String]) -> Bool {
        arguments.last == "get" && !arguments.contains(askWhenLocked)
    }

    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32 {
        for option in arguments.dropLast() where option != askWhenLocked {
            console.complain("there is no option '\(option)': the only one is \(askWhenLocked)")
            return 64
        }
        do {
            switch arguments.last {
            case "capability": try console.write("version 0\ncapability \(GitCredential.schemesCapability)\n")
            case "get": try get(console)
            case "store": try store(try request(console))
            case "erase": try erase(try request(console))
            case nil:
                console.complain("git calls this program with get, store, erase or capability")
                return 64
            // A later git may have further operations.
            default: break
            }
            return 0
        } catch {
            console.complain(error)
            if stops(arguments) { console.writeLast(stop) }
            return 1
        }
    }

    private static var items: HelperItems { HelperItems(.internetPassword, mark: "git credential") }

    private static func request(_ console: HelperConsole) throws -> GitCredential {
        try console.read().withUnsafeBytes { try GitCredential(parsing: $0) }
    }

    // MARK: Operations

    private static func get(_ console: HelperConsole) throws {
        let request = try request(console)
        guard var attributes = request.attributes else { return }
        if !request.understandsSchemes { attributes[.authenticationType] = .text("") }
        let items = items
        let found = try items.find(attributes)
        // If git named no path, an item for the whole server goes before an item for one path.
        guard let item = found.first(where: { $0.bytes(.path)?.isEmpty ?? true }) ?? found.first else { return }
        guard let lines = answer(item, GitSecret(try items.secret(of: item))).lines else {
            return console.complain(
                "the item for \(request.label) is not given to git: it has a line end or a NUL in it, or is too long")
        }
        try console.write(lines)
    }

    private static func answer(_ item: Item, _ secret: GitSecret) -> GitCredential {
        var answer = GitCredential()
        answer.username = item.bytes(.account)
        if let scheme = item.bytes(.authenticationType), !scheme.isEmpty {
            answer.capabilities = [Data(GitCredential.schemesCapability.utf8)]
            (answer.authenticationScheme, answer.credential) = (scheme, secret.main)
            // The answer has a user name only if one was stored.
            if answer.username?.isEmpty == true { answer.username = nil }
        } else {
            answer.password = secret.main
        }
        (answer.expiry, answer.refreshToken) = (secret.expiry, secret.refreshToken)
        return answer
    }

    private static func store(_ credential: GitCredential) throws {
        guard !credential.isEphemeral, let attributes = credential.attributesToStore else { return }
        let isScheme = credential.authenticationScheme != nil && credential.credential != nil
        guard let main = isScheme ? credential.credential : credential.password,
            isScheme || credential.username != nil
        else { return }
        guard credential.lines != nil else {
            throw HelperFailure("a value has a carriage return or is too long: it was not stored")
        }
        let secret = GitSecret(main: main, expiry: credential.expiry, refreshToken: credential.refreshToken)
        try items.store(secret.stored, attributes, label: credential.label, replacing: attributes)
    }

    private static func erase(_ credential: GitCredential) throws {
        guard let attributes = credential.attributes else { return }
        guard let refused = credential.credential ?? credential.password else {
            try items.erase(attributes)
            return
        }
        // A newer password than the refused one stays.
        try items.erase(attributes) { GitSecret($0).main.hasSameBytes(as: refused) }
    }
}
