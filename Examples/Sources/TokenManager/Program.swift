import Foundation
import Story

/// `TokenManager`                 goes through everything once and leaves nothing behind
/// `TokenManager sign-in USER`    keeps the access token that standard input holds
/// `TokenManager token USER`      prints it again
/// `TokenManager sign-out USER`   forgets it
@main
struct Program {
    static func main() {
        story(run)
    }

    private static func run() throws {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.dropFirst().first.map(Session.init)) {
        case (nil, nil): try tour()
        case ("sign-in", let session?):
            try session.signIn(accessToken: readLine() ?? "", refreshToken: UUID().uuidString)
        case ("token", let session?): print(try session.accessToken)
        case ("sign-out", let session?): try session.signOut()
        default: stop("usage: TokenManager [sign-in USER | token USER | sign-out USER]")
        }
    }

    private static func tour() throws {
        let session = Session(user: "ada")
        try session.signOut()
        tell("Nobody is signed in.", !session.isSignedIn)
        tell("Loading fails with errSecItemNotFound.", fails: notFound("load")) { _ = try session.accessToken }

        try session.signIn(accessToken: "first", refreshToken: "again")
        tell("After signing in both tokens are there.", try tokens(of: session) == ["first", "again"])
        try session.signIn(accessToken: "second", refreshToken: "again")
        tell("Signing in once more replaces them.", try tokens(of: session) == ["second", "again"])
        try session.renew(accessToken: "third")
        tell("A renewed token is an update.", try tokens(of: session) == ["third", "again"])
        try session.signOut()
        tell("After signing out neither is there.", !session.isSignedIn)
        try session.renew(accessToken: "fourth")
        tell("An update of a token that is gone adds it.", try session.accessToken == "fourth")
        try session.signOut()

        let settings = Settings()
        settings.theme = "dark"
        tell("A wrapped property has its value.", settings.theme == "dark")
        settings.theme = "light"
        tell("It can be changed.", settings.theme == "light")
        settings.theme = nil
        tell("And be nil.", settings.theme == nil)

        let store = CredentialStore<DatabaseCredential>(service: "com.example.token-manager.databases")
        let credential = DatabaseCredential(user: "reports", password: "пароль \u{0} 🔑", port: 5432)
        try store.save(credential, for: "production")
        tell("A Codable credential comes back as it was.", try store.credential(for: "production") == credential)
        try store.remove("production")
        tell("Removed, it is gone.", fails: notFound("load")) { _ = try store.credential(for: "production") }
    }

    private static func tokens(of session: Session) throws -> [String] {
        [try session.accessToken, try session.refreshToken]
    }

    private static func notFound(_ operation: String) -> KeychainError {
        KeychainError(operation: operation, status: errSecItemNotFound)
    }
}

private struct Settings {
    @KeychainBacked("theme") var theme: String?
}
