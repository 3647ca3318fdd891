import Foundation
import Report
import SwiftKeychain

struct Login: Codable, Equatable, Sendable {
    var name: String
    var pin: Int
}

/// What expires is there until then; that it is not there later, Tests/Outside/expiry shows.
func expiration() throws {
    let keychain = Keychain(service: "com.example.expiration")
    let moment = Date(timeIntervalSinceNow: 3_600)
    try keychain.set("a", for: "at", expires: .at(moment))
    let spans: [Keychain.Expiration] = [
        .after(.seconds(60)), .after(.seconds(1.5)), .after(minutes: 5), .after(hours: 24), .after(days: 7),
    ]
    for expires in spans { try keychain.set("b", for: "after", expires: expires) }
    let never: Keychain.Expiration = .never
    try keychain.set("c", for: "never", expires: never)
    try tell("Each is there", try keychain.keys().sorted() == ["after", "at", "never"])
    let items = try KeychainItems().find(Keychain.GenericPassword.self) { $0.service = "com.example.expiration" }
    let dates = Dictionary(uniqueKeysWithValues: items.map { ($0.account ?? "", $0.expires) })
    tell("An item has its date", abs(dates["at"]??.timeIntervalSince(moment) ?? 1) < 0.001)
    tell("Or none", dates["never"] == .some(nil))
    do throws(KeychainError) {
        try keychain.set("d", for: "past", expires: .at(.distantPast))
    } catch {
        tell("A date that has passed is refused", error.code == .parameter)
    }
    try keychain.removeAll()
}

func values() throws {
    try expiration()
    var keychain = Keychain(service: "com.example.values", accessGroup: nil, accessibility: .afterFirstUnlock)
    try keychain.set("s3cret", for: "token")
    try tell("A text comes back", try keychain.string(for: "token") == "s3cret")
    try tell("So do its bytes", try keychain.data(for: "token") == Data("s3cret".utf8))
    try tell("They are lent", try keychain.withSecret(for: "token") { $0.count } == 6)
    try tell("It is there", try keychain.contains("token") && keychain.count() == 1 && keychain.keys() == ["token"])
    try keychain.add(Login(name: "ada", pin: 1), for: "login")
    try keychain.update(Login(name: "ada", pin: 2), for: "login")
    try tell("So does any value", try keychain.value(Login.self, for: "login")?.pin == 2)

    try keychain.set(Secret(copying: Data("quiet".utf8)), for: "secret")
    if let secret = try keychain.secret(for: "secret") {
        let (count, bytes) = (secret.count, secret.withUnsafeBytes { Data($0) })
        tell("A secret has its bytes", count == 5 && bytes == Data("quiet".utf8))
        let isSame = secret.hasSameBytes(as: Secret(copying: Data("quiet".utf8)))
        tell("And is compared", isSame)
    }

    keychain.keyPrefix = "user 1 "
    keychain.isSynchronizable = true
    keychain.coding = .propertyList
    try keychain.set(Login(name: "bob", pin: 3), for: "login")
    let coding = Keychain.Coding {
        try JSONEncoder().encode($0)
    } decode: {
        try JSONDecoder().decode($0, from: $1)
    }
    keychain.coding = coding
    tell("Another coding reads something else", (try? keychain.value(Login.self, for: "login")) == nil)
    keychain.coding = .json
    try tell("One is removed", try keychain.remove("login") && keychain.removeAll() == 0)
    keychain.isSynchronizable = false
    keychain.keyPrefix = ""
    try tell("All are removed", try keychain.inGroup(nil).removeAll() == 3)

    // How it is protected, and who is asked.
    let control = Keychain.AccessControl(
        .whenUnlocked, consent: nil, applicationPassword: true, constrainsDeletion: false)
    tell(
        "An access control says what it asks for",
        control.isConstrained && control.consent == nil && control.accessibility == .whenUnlocked)
    tell("There are seven times to be there", Keychain.Accessibility.allCases.count == 7)
    tell("And six things to show", Keychain.AccessControl.Consent.allCases.count == 6)
    let context = Keychain.Context(reason: "to test")
    context.setApplicationPassword(Data("open sesame".utf8))
    var locked = keychain.protected(by: control)
    locked.context = context
    locked.reason = "to test"
    locked.mayAsk = false
    try locked.set("x", for: "k")
    try tell("An application password opens it", try locked.string(for: "k") == "x")
    context.invalidate()
    tell("And not without", (try? locked.string(for: "k")) == nil)
    try locked.remove("k")
    tell("It says what it is", locked.accessControl == control && locked.accessGroup == nil)

    var server = Keychain.Server("example.com", protocol: .https, port: 443)
    server.path = "/mail"
    server.securityDomain = "staff"
    server.authenticationType = .httpBasic
    try Keychain(server: server).set("hunter2", for: "alice")
    try tell("A server's password comes back", try Keychain(server: server).string(for: "alice") == "hunter2")
    try tell("Another server has none", try Keychain(server: .init("example.com")).string(for: "alice") == nil)
    let url = Keychain.Server(URL(string: "imap://mail.example.com:143")!)
    tell("A server has a URL", url?.host == "mail.example.com" && url?.protocol == .imap && url?.port == 143)
    tell(
        "Protocols have Apple's codes",
        Set(Keychain.InternetProtocol.allCases.map(\.rawValue)).count == Keychain.InternetProtocol.allCases.count)
    tell(
        "As authentication has",
        Keychain.AuthenticationType(rawValue: "ntlm") == .ntlm && Keychain.AuthenticationType.allCases.count == 8)
    try Keychain(server: server).removeAll()
    let other = keychain.configured(KeychainConfiguration())
    try tell("Another configuration is another way to it", try other.count() == 0)
}

func valuesInTasks() async throws {
    let keychain = Keychain(service: "com.example.tasks")
    try await keychain.add("a", for: "k")
    try await keychain.set("b", for: "k")
    try await keychain.update("c", for: "k")
    try await tell("A task reads a text", keychain.string(for: "k"), "c")
    try await tell("Its bytes", keychain.data(for: "k"), Data("c".utf8))
    try await tell("Any value", keychain.value(String.self, for: "k"), "c")
    try await keychain.set(Secret(copying: Data("d".utf8)), for: "k")
    let secret = try await keychain.secret(for: "k")
    let isThere = secret != nil
    tell("A secret", isThere)
    try await tell("Its bytes for a moment", keychain.withSecret(for: "k") { $0.count }, 1)
    try await tell("Whether it is there", keychain.contains("k"), true)
    try await tell("All keys", keychain.keys(), ["k"])
    try await tell("Their number", keychain.count(), 1)
    try await keychain.modify(String.self, for: "k") { $0 = $0.map { "\($0)!" } }
    try await tell("A task changes what is there", keychain.compareAndSwap("k", from: "d!", to: "e"), true)
    try await keychain.transaction { try $0.set("f", for: "l") }
    let target = Keychain(service: "com.example.tasks.new")
    try await tell("Moves it", target.migrate(from: keychain), 2)
    try await tell("Removes it", target.remove("l"), true)
    try await tell("Or all", target.removeAll(), 1)
}

/// `await` has no place in an argument that is evaluated later.
func tell<Value: Equatable>(_ sentence: String, _ value: Value, _ expected: Value) { tell(sentence, value == expected) }

func several() throws {
    let keychain = Keychain(service: "com.example.several")
    try keychain.transaction { changes in
        try changes.set(Login(name: "ada", pin: 1), for: "a")
        try changes.set("x", for: "b")
        try tell(
            "A transaction reads what it has changed",
            try changes.value(Login.self, for: "a")?.pin == 1 && changes.string(for: "b") == "x")
        try tell("Its bytes too", try changes.data(for: "b") == Data("x".utf8) && changes.contains("b"))
        changes.remove("b")
        try tell("And what it has removed", try changes.keys() == ["a"])
    }
    try keychain.modify(Login.self, for: "a") { $0?.pin += 1 }
    try tell("A value is changed in its place", try keychain.value(Login.self, for: "a")?.pin == 2)
    try tell("Or swapped", try keychain.compareAndSwap("a", from: Login(name: "ada", pin: 2), to: Login?.none))
    try keychain.set("x", for: "moved")
    try tell("Items move", try Keychain(service: "com.example.moved").migrate(from: keychain, replacing: true) == 1)
    try Keychain(service: "com.example.moved").removeAll()
}

func changesAreTold() async throws {
    let keychain = Keychain(service: "com.example.changes")
    var changes: Keychain.Changes.Iterator = keychain.changes.makeAsyncIterator()
    try await keychain.set("x", for: "k")
    let change: Keychain.Changes.Element? = try await changes.next()
    tell(
        "A change is told",
        change == Keychain.Change(kind: .added, key: "k") && change?.kind == .added && change?.key == "k")
    try await keychain.remove("k")
    let removal = try await changes.next()
    tell("So is a removal", removal?.kind == .removed)
    let foreign: Keychain.Changes = Keychain(service: "x", accessGroup: "com.example.foreign").changes
    do throws(Keychain.Changes.Failure) {
        for try await _ in foreign {}
        tell("A group that is not held is an error", false)
    } catch {
        tell("A group that is not held is an error", error.code == .missingEntitlement)
    }
}
