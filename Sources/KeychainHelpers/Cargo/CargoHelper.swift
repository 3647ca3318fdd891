internal import KeychainModel
internal import KeychainSystem

/// `cargo-credential-keychain`: cargo's credential provider.
enum CargoHelper: Helper {
    static let name = "cargo-credential-keychain"

    static func answerOutOfTime(_ arguments: [String]) -> String {
        #"{"Err":{"kind":"other","message":"the keychain did not answer in time","caused-by":[]}}"# + "\n"
    }

    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32 {
        guard arguments.contains("--cargo-plugin") else {
            console.complain("cargo calls this program with --cargo-plugin: 'keychainctl setup cargo' makes it do so")
            return 64
        }
        do {
            try console.write(#"{"v":[1]}"# + "\n")
            let lines = HelperLines(console)
            while let line = try lines.next() { try console.write(try JSONMessage.line(response(to: line))) }
            return 0
        } catch {
            console.complain(error)
            return 1
        }
    }

    private static func response(to line: SecretBytes) -> CargoResponse {
        do {
            let request = try JSONMessage.decode(CargoRequest.self, line, from: "cargo")
            guard request.version == 1 else {
                throw HelperFailure(
                    "cargo speaks version \(request.version) of its protocol, and this program version 1")
            }
            return try response(to: request)
        } catch {
            return .failure(kind: "other", message: HelperConsole.text(of: error))
        }
    }

    private static func response(to request: CargoRequest) throws -> CargoResponse {
        switch request.kind {
        case "get": return try get(request)
        case "login":
            try login(request)
            return .done(request.kind)
        case "logout":
            // After this answer cargo asks the next provider, which may have a token.
            guard try items.erase(attributes(request)) > 0 else { return .failure(kind: "not-found", message: "") }
            return .done(request.kind)
        default: return .failure(kind: "operation-not-supported", message: "")
        }
    }

    private static var items: HelperItems { HelperItems(.genericPassword, mark: "cargo token") }

    private static func attributes(_ request: CargoRequest) -> AttributeSet {
        [.account: .text(""), .service: .text("cargo-registry:" + request.registry.indexURL)]
    }

    // MARK: Operations

    private static func get(_ request: CargoRequest) throws -> CargoResponse {
        let items = items
        guard let item = try items.find(attributes(request)).first else {
            return .failure(kind: "not-found", message: "")
        }
        return .token(try items.secret(of: item).text("the stored secret"))
    }

    private static func login(_ request: CargoRequest) throws {
        guard let token = request.token?.trimming(while: \.isWhitespace), !token.isEmpty else {
            let place = request.loginURL.map { " (from \($0))" } ?? ""
            throw HelperFailure("no token came: put it\(place) into a file, and use 'cargo login … < FILE'")
        }
        try items.store(
            SecretBytes(token), attributes(request), label: request.registry.indexURL, replacing: attributes(request))
    }
}
