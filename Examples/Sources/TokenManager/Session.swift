import Foundation

/// The tokens of one user.
struct Session {
    private enum Token: String, CaseIterable {
        case access = "access token"
        case refresh = "refresh token"
    }

    static let service = "com.example.token-manager"

    let user: String

    var accessToken: String {
        get throws { try load(.access) }
    }

    var refreshToken: String {
        get throws { try load(.refresh) }
    }

    var isSignedIn: Bool { (try? accessToken) != nil }

    func signIn(accessToken: String, refreshToken: String) throws {
        try save(accessToken, as: .access)
        try save(refreshToken, as: .refresh)
    }

    func renew(accessToken: String) throws {
        try KeychainManager.shared.update(Data(accessToken.utf8), service: Self.service, account: account(.access))
    }

    func signOut() throws {
        for token in Token.allCases {
            try KeychainManager.shared.delete(service: Self.service, account: account(token))
        }
    }

    private func load(_ token: Token) throws -> String {
        let data = try KeychainManager.shared.load(service: Self.service, account: account(token))
        return String(decoding: data, as: UTF8.self)
    }

    private func save(_ value: String, as token: Token) throws {
        try KeychainManager.shared.save(Data(value.utf8), service: Self.service, account: account(token))
    }

    private func account(_ token: Token) -> String { "\(user), \(token.rawValue)" }
}
