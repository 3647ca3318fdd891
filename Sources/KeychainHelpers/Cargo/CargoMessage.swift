/// A line of cargo's to a credential provider, version 1 of its protocol (doc.rust-lang.org/cargo, "Credential provider
/// protocol").
package struct CargoRequest: Decodable {
    package struct Registry: Decodable {
        package var indexURL: String

        private enum CodingKeys: String, CodingKey { case indexURL = "index-url" }
    }

    package var version: Int
    package var kind: String
    package var registry: Registry
    /// nil: the helper is to ask a person for the token.
    package var token: String?
    package var loginURL: String?

    private enum CodingKeys: String, CodingKey {
        case version = "v"
        case kind, registry, token
        case loginURL = "login-url"
    }
}

/// The line that answers a request of cargo's.
enum CargoResponse: Encodable {
    case token(String)
    /// A login or a logout.
    case done(String)
    /// `kind` is one that cargo knows: `not-found` and `operation-not-supported` make it ask the next provider.
    case failure(kind: String, message: String)

    private enum Outcome: String, CodingKey {
        case success = "Ok"
        case failure = "Err"
    }

    private struct Success: Encodable {
        var kind: String
        var token: String?
        /// One answer serves one run of cargo.
        var cache: String?
        /// The token is the same for reading and for publishing.
        var operationIndependent: Bool?

        private enum CodingKeys: String, CodingKey {
            case kind, token, cache
            case operationIndependent = "operation_independent"
        }
    }

    private struct Failure: Encodable {
        var kind: String
        var message: String?
        var causes: [String]?

        private enum CodingKeys: String, CodingKey {
            case kind, message
            case causes = "caused-by"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Outcome.self)
        switch self {
        case .token(let token):
            let success = Success(kind: "get", token: token, cache: "session", operationIndependent: true)
            try container.encode(success, forKey: .success)
        case .done(let kind): try container.encode(Success(kind: kind), forKey: .success)
        case .failure(let kind, let message):
            let isOther = kind == "other"
            try container.encode(
                Failure(kind: kind, message: isOther ? message : nil, causes: isOther ? [] : nil), forKey: .failure)
        }
    }
}
