import Foundation
import SwiftKeychain

struct Account: Codable, Equatable, Sendable {
    var name: String
    var password: String
}

/// What a program with a sign-in keeps: the tokens of its session, its accounts, and a setting.
struct SignIn: Sendable {
    private static let keychain = Keychain(service: "com.example.sign-in", accessibility: .afterFirstUnlock)

    let tokens = TokenStore(keychain)
    let accounts = CredentialStore<Account>(Keychain(service: "com.example.sign-in.accounts"))
    @Keychained("last account", in: keychain) var lastAccount: String?

    func signIn(as account: Account) throws {
        try accounts.save(account, for: account.name)
        try tokens.save(.init(accessToken: "first", refreshToken: "1", expires: .now))
        try $lastAccount.set(account.name)
    }

    /// An access token that is good for a request now.
    func accessToken() async throws -> String? {
        try await tokens.accessToken { old in  // here a program asks its server
            .init(accessToken: "next", refreshToken: old.refreshToken, expires: .now + 3600)
        }
    }

    func signOut() throws {
        try tokens.remove()
        try accounts.removeAll()
        try $lastAccount.set(nil)
    }
}
