import Foundation
import Report
import SwiftKeychain

struct Session {
    @Keychained("token", in: Keychain(service: "com.example.session")) var token: String?
    @Keychained("flag", in: Keychain(service: "com.example.session")) var flag = false
    @Keychained("name", in: Keychain(service: "com.example.session")) var name: String? = "nobody"
}

final class Account {
    @Keychained var token: String?

    init(_ keychain: Keychain) { _token = Keychained("token", in: keychain) }
}

func managers() throws {
    let session = Session()
    session.token = "t"
    tell("A property is in the keychain", session.token == "t" && session.$token.error == nil)
    try session.$token.set("u")
    try tell("And throws where it is asked to", try session.$token.get() == "u")
    tell("It says where it is", session.$token.key == "token" && session.$token.keychain.accessGroup == nil)
    session.token = nil
    tell("nil removes it", session.token == nil)
    session.flag.toggle()
    tell("A default value is changed in place", session.flag && session.name == "nobody")
    try tell("And stored", try session.$flag.keychain.keys() == ["flag"])
    try session.$flag.keychain.removeAll()
    let account = Account(Keychain(service: "com.example.account"))
    account.token = "t"
    try tell("A keychain is handed in", try Keychain(service: "com.example.account").remove("token"))

    let tokens = TokenStore(Keychain(service: "com.example.session"))
    var new = TokenStore.Tokens(accessToken: "a", refreshToken: "r", expires: nil)
    new.expires = Date(timeIntervalSinceNow: 3600)
    new.accessToken = "needle"
    let shown = new.description + "\(new.customMirror)"
    tell("They do not show themselves", !shown.contains("needle"))
    new.accessToken = "a"
    try tokens.save(new)
    try tell(
        "Tokens are kept together", try tokens.tokens()?.refreshToken == "r" && tokens.tokens()?.accessToken == "a")
    try tell("One knows whether there is one", try tokens.hasAccessToken() && tokens.key == "tokens")
    try tell("They go together", try tokens.remove() && tokens.keychain.count() == 0)

    let logins = CredentialStore<Login>(Keychain(service: "com.example.logins"))
    try logins.save(Login(name: "ada", pin: 1), for: "ada")
    try tell("Credentials are kept by name", try logins.names() == ["ada"] && logins.credentials(for: "ada")?.pin == 1)
    try tell("And removed", try logins.remove("ada") && logins.removeAll() == 0 && logins.keychain.count() == 0)
}

func managersInTasks() async throws {
    let session = Session()
    try await session.$token.set("t")
    try await tell("A task reads a property", session.$token.get(), "t")
    try await session.$token.set(nil)

    let tokens = TokenStore(Keychain(service: "com.example.session"))
    try await tokens.save(.init(accessToken: "a", refreshToken: "r", expires: .now))
    try await tell("A token that has expired is none", tokens.hasAccessToken(), false)
    let fresh = try await tokens.accessToken { old in .init(accessToken: "b", refreshToken: old.refreshToken) }
    tell("It is refreshed", fresh == "b")
    try await tell("And stored", tokens.tokens()?.accessToken, "b")
    try await tell("And removed", tokens.remove(), true)

    let logins = CredentialStore<Login>(Keychain(service: "com.example.logins"))
    try await logins.save(Login(name: "ada", pin: 1), for: "ada")
    try await tell("A task reads credentials", logins.credentials(for: "ada"), Login(name: "ada", pin: 1))
    try await tell("Their names", logins.names(), ["ada"])
    try await tell("And removes them", logins.remove("ada"), true)
    try await tell("All of them", logins.removeAll(), 0)
}
