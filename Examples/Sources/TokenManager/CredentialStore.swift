import Foundation

/// Any Codable value, kept as one secret.
struct CredentialStore<Credential: Codable> {
    let service: String

    func save(_ credential: Credential, for account: String) throws {
        try KeychainManager.shared.save(JSONEncoder().encode(credential), service: service, account: account)
    }

    func credential(for account: String) throws -> Credential {
        let data = try KeychainManager.shared.load(service: service, account: account)
        return try JSONDecoder().decode(Credential.self, from: data)
    }

    func remove(_ account: String) throws {
        try KeychainManager.shared.delete(service: service, account: account)
    }
}

struct DatabaseCredential: Codable, Equatable {
    var user: String
    var password: String
    var port: Int
}
