import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Keys and values of the Swift API") struct KeychainValuesTests {
    struct Login: Codable, Equatable {
        var name: String
        var pin: Int
    }

    static let keychain = Keychain(service: "service")

    static func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeychainError)?.code
        }
    }

    // MARK: Values

    @Test("Texts and data are their own bytes on every path, everything else is JSON", arguments: KeychainHost.carriers)
    func bytes(_ host: KeychainHost) throws {
        func store<V: Encodable>(_ value: V, _ keychain: Keychain) throws -> Data? {
            try keychain.set(value, for: "k")
            return try keychain.data(for: "k")
        }
        func load<V: Decodable>(_ type: V.Type, _ keychain: Keychain) throws -> V? { try keychain.value(for: "k") }

        try withKeychain(host) { _ in
            let keychain = Self.keychain
            #expect(try store("täxt", keychain) == Data("täxt".utf8))
            #expect(try load(String.self, keychain) == "täxt")
            #expect(try load(String?.self, keychain) == "täxt")
            let erased: any Encodable = "x"
            let bytes = try store(erased, keychain)
            #expect(bytes == Data("x".utf8))
            #expect(try store(Data([0, 255]), keychain) == Data([0, 255]))
            #expect(try load(Data.self, keychain) == Data([0, 255]))
            #expect(try load(Data?.self, keychain) == Data([0, 255]))
            #expect(try store("", keychain) == Data())
            #expect(try store(Data(), keychain) == Data())
            #expect(try store(7, keychain) == Data("7".utf8))
            let login = Login(name: "a", pin: 3)
            #expect(try store(login, keychain) == Data(#"{"name":"a","pin":3}"#.utf8))
            #expect(try load(Login.self, keychain) == login)
        }
    }

    @Test("Another coding is taken for what is neither text nor data")
    func coding() throws {
        try withKeychain { _ in
            var keychain = Self.keychain
            keychain.coding = .propertyList
            try keychain.set(Login(name: "a", pin: 3), for: "k")
            #expect(try keychain.data(for: "k")?.starts(with: Data("bplist".utf8)) == true)
            #expect(try keychain.value(Login.self, for: "k") == Login(name: "a", pin: 3))
            try keychain.set("text", for: "k")
            #expect(try keychain.data(for: "k") == Data("text".utf8))
        }
    }

    @Test("What cannot be read as what is asked for is an error that does not show it")
    func wrongType() throws {
        try withKeychain { _ in
            let keychain = Self.keychain
            try keychain.set(Data([0xff, 0xfe]), for: "k")
            let failures = [
                #expect(throws: KeychainError.self) { try keychain.string(for: "k") },
                #expect(throws: KeychainError.self) { try keychain.value(String.self, for: "k") },
                #expect(throws: KeychainError.self) { try keychain.value(Login.self, for: "k") },
            ]
            try keychain.set(#"{"name": "needle", "pin": "needle"}"#, for: "k")
            let failure = #expect(throws: KeychainError.self) { try keychain.value(Login.self, for: "k") }
            for failure in failures + [failure] {
                #expect(failure?.code == .decode)
                #expect(
                    failure.map { "\($0) \($0.localizedDescription) \(String(reflecting: $0))".contains("needle") }
                        == false)
            }
        }
    }

    @Test("The error of a value that cannot be encoded does not hold the value")
    func encodingError() throws {
        try withKeychain { _ in
            // JSON has no such number: the encoder's error has the value.
            let error = #expect(throws: KeychainError.self) {
                try Keychain(service: "s").set(["needle": Double.infinity], for: "k")
            }
            #expect(error?.code == .parameter && error?.cause == nil)
        }
    }

    @Test("A value that cannot be encoded changes nothing")
    func notEncodable() throws {
        struct Refusing: Encodable {
            func encode(to _: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
        }
        try withKeychain { _ in
            try Self.keychain.set("before", for: "k")
            #expect(Self.code { try Self.keychain.set(Refusing(), for: "k") } == .parameter)
            #expect(try Self.keychain.string(for: "k") == "before")
        }
    }

    @Test("A secret is handed out as memory of its own", arguments: KeychainHost.carriers)
    func secret(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            try keychain.set(Secret(copying: Data("s3cret".utf8)), for: "k")
            #expect(try keychain.withSecret(for: "k") { Data($0) } == Data("s3cret".utf8))
            #expect(try keychain.withSecret(for: "other") { Data($0) } == nil)
            guard let secret = try keychain.secret(for: "k") else {
                Issue.record("there is no secret")
                return
            }
            let (count, bytes) = (secret.count, secret.withUnsafeBytes { Data($0) })
            #expect(count == 6 && bytes == Data("s3cret".utf8))
            for (text, isSame) in [("s3cret", true), ("s3creT", false), ("s3cret ", false), ("", false)] {
                let found = secret.hasSameBytes(as: Secret(copying: Data(text.utf8)))
                #expect(found == isSame)
            }
        }
    }

    // MARK: Writing

    @Test("Storing replaces, adding and updating want to know", arguments: KeychainHost.carriers)
    func writing(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            #expect(try keychain.string(for: "k") == nil)
            #expect(Self.code { try keychain.update("x", for: "k") } == .itemNotFound)
            try keychain.add("a", for: "k")
            #expect(Self.code { try keychain.add("b", for: "k") } == .duplicateItem)
            try keychain.set("c", for: "k")
            #expect(try keychain.string(for: "k") == "c")
            try keychain.update("d", for: "k")
            #expect(try keychain.string(for: "k") == "d")
            #expect(try keychain.count() == 1)
            #expect(try keychain.remove("k"))
            #expect(try !keychain.remove("k"))
            #expect(try keychain.value(Int.self, for: "k") == nil)
        }
    }

    @Test("An item that is there keeps its protection, dates and comments unless another protection is named")
    func protectionStays() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            var item = Keychain.GenericPassword()
            item.service = "service"
            item.account = "k"
            item.comment = "mine"
            item.accessControl = .init(.whenPasscodeSetThisDeviceOnly)
            let stored = try KeychainItems().add(item)
            try Self.keychain.set("new", for: "k")
            try Self.keychain.update("newer", for: "k")
            func present() throws -> Keychain.GenericPassword? {
                try KeychainItems().find(Keychain.GenericPassword.self, wantsSecrets: true).first
            }
            #expect(try present()?.accessControl?.accessibility == .whenPasscodeSetThisDeviceOnly)
            #expect(try present()?.comment == "mine")
            #expect(try present()?.created == stored.created)
            #expect(try present()?.persistentReference == stored.persistentReference)
            #expect(try present()?.secret == Data("newer".utf8))
            try Keychain(service: "service", accessibility: .afterFirstUnlock).set("z", for: "k")
            #expect(try present()?.accessControl?.accessibility == .afterFirstUnlock)
        }
    }

    // MARK: What is meant

    @Test("A value means its own service, group, mark and prefix, and nothing else", arguments: KeychainHost.carriers)
    func selection(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            var synchronizable = Self.keychain
            synchronizable.isSynchronizable = true
            var prefixed = Self.keychain
            prefixed.keyPrefix = "p."
            let others = [
                Keychain(service: "other"), Self.keychain.inGroup("G2"), synchronizable,
                Keychain(server: .init("service")),
            ]
            for (index, keychain) in ([Self.keychain, prefixed] + others).enumerated() {
                try keychain.set("\(index)", for: "k")
            }
            #expect(try Self.keychain.keys().sorted() == ["k", "p.k"])
            #expect(try prefixed.keys() == ["k"])
            #expect(try prefixed.string(for: "k") == "1")
            #expect(try prefixed.removeAll() == 1)
            #expect(try prefixed.removeAll() == 0)
            #expect(try Self.keychain.removeAll() == 1)
            #expect(try Self.keychain.count() == 0)
            for (index, keychain) in others.enumerated() {
                #expect(try keychain.string(for: "k") == "\(index + 2)")
                #expect(try keychain.count() == 1)
            }
        }
    }

    @Test("A prefix is compared by its bytes")
    func prefixBytes() throws {
        try withKeychain { _ in
            var keychain = Self.keychain
            try keychain.set("x", for: "e\u{301}t")
            try keychain.set("y", for: "e\u{301}")
            keychain.keyPrefix = "e"
            #expect(try Set(keychain.keys().map { Array($0.utf8) }) == [Array("\u{301}t".utf8), Array("\u{301}".utf8)])
            keychain.keyPrefix = "é"
            #expect(try keychain.keys() == [])
        }
    }

    @Test("Without a group the program's first one is meant, and another one's is refused with what the program holds")
    func groups() throws {
        try withKeychain { _ in
            try Self.keychain.inGroup("G2").set("two", for: "k")
            #expect(try Self.keychain.string(for: "k") == nil)
            try Self.keychain.set("one", for: "k")
            #expect(try Self.keychain.inGroup("G1").string(for: "k") == "one")
            #expect(try Self.keychain.inGroup("G2").string(for: "k") == "two")
            let error = #expect(throws: KeychainError.self) { try Self.keychain.inGroup("G3").string(for: "k") }
            #expect(error?.code == .missingEntitlement)
            #expect(error?.message.contains("G3") == true && error?.message.contains("G1, G2") == true)
        }
    }

    @Test("Internet passwords are told apart by everything that names the server")
    func servers() throws {
        try withKeychain { _ in
            var authenticated = Keychain.Server("example.com", protocol: .https)
            authenticated.authenticationType = .httpBasic
            var realm = Keychain.Server("example.com", protocol: .https)
            realm.securityDomain = "staff"
            let servers: [Keychain.Server?] = [
                .init("example.com"), .init("example.com", protocol: .https),
                .init("example.com", protocol: .https, port: 8443),
                .init(URL(string: "https://example.com/path")!), .init(URL(string: "ssh://example.com")!),
                authenticated, realm,
            ]
            for (index, server) in servers.enumerated() {
                try Keychain(server: try #require(server)).set("\(index)", for: "alice")
            }
            for (index, server) in servers.enumerated() {
                #expect(try Keychain(server: try #require(server)).string(for: "alice") == "\(index)")
            }
            #expect(
                Keychain.Server(URL(string: "https://example.com:8443/")!)
                    == .init("example.com", protocol: .https, port: 8443))
            #expect(Keychain.Server(URL(string: "mailto:a@example.com")!) == nil)
            #expect(Keychain.Server(URL(string: "gopher://example.com")!) == nil)
        }
    }

    // MARK: The lock

    @Test("Locked is never not found, and a deletion needs no key", arguments: KeychainHost.carriers)
    func locked(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            let keychain = Self.keychain
            try keychain.set("x", for: "k")
            try test.lock(.now)
            for body in [
                { _ = try keychain.string(for: "k") }, { _ = try keychain.data(for: "k") }, { _ = try keychain.keys() },
                { _ = try keychain.contains("k") }, { _ = try keychain.count() }, { try keychain.set("y", for: "k") },
                { _ = try keychain.compareAndSwap("k", from: "x", to: "z") },
                { try keychain.modify(String.self, for: "k") { $0 = "z" } },
                { _ = try keychain.withSecret(for: "k") { _ in } },
                { try keychain.transaction { try $0.set("z", for: "k") } },
            ] as [() throws -> Void] {
                #expect(Self.code(body) == .interactionNotAllowed)
            }
            #expect(try keychain.string(for: "another") == nil)
            #expect(try !keychain.contains("another"))
            #expect(try keychain.remove("k"))
            try test.unlock("1234")
            #expect(try keychain.string(for: "k") == nil)
        }
    }

    // MARK: The person

    @Test(
        "An item that asks for the passcode is read and replaced with it; whether it is there, and its removal, ask nobody",
        arguments: KeychainHost.carriers)
    func consent(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            let bank = Self.keychain.protected(by: .init(.whenUnlocked, consent: .passcode))
            try bank.set("4711", for: "pin")
            #expect(try bank.contains("pin"))
            #expect(test.prompter.questions.isEmpty)
            test.prompter.answer(.text("1234"), .text("1234"), .fail(.declined))
            var asking = Self.keychain
            asking.reason = "to pay"
            #expect(try asking.string(for: "pin") == "4711")
            try asking.set("4712", for: "pin")
            #expect(Self.code { _ = try asking.string(for: "pin") } == .userCancelled)
            #expect(test.prompter.questions.map(\.reason) == ["to pay", "to pay", "to pay"])
            asking.mayAsk = false
            #expect(Self.code { _ = try asking.string(for: "pin") } == .interactionNotAllowed)
            #expect(try asking.remove("pin"))
            #expect(test.prompter.questions.count == 3)
        }
    }

    @Test("A context is asked for once, and not any more after it was invalidated")
    func context() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            var bank = Self.keychain.protected(by: .init(.whenUnlocked, consent: .passcode))
            try bank.set("4711", for: "pin")
            let context = Keychain.Context(reason: "for the day")
            bank.context = context
            test.prompter.answer(.text("1234"))
            #expect(try bank.string(for: "pin") == "4711")
            #expect(try bank.string(for: "pin") == "4711")
            #expect(test.prompter.questions.map(\.reason) == ["for the day"])
            context.invalidate()
            #expect(Self.code { _ = try bank.string(for: "pin") } == .authenticationFailed)
        }
    }

    @Test("An application password of the context opens what it was stored with, and no other does")
    func applicationPassword() throws {
        try withKeychain { _ in
            var keychain = Self.keychain.protected(by: .init(.whenUnlocked, applicationPassword: true))
            let context = Keychain.Context()
            context.setApplicationPassword(Data("open".utf8))
            keychain.context = context
            try keychain.set("x", for: "k")
            #expect(try keychain.string(for: "k") == "x")
            let other = Keychain.Context()
            other.setApplicationPassword(Data("sesame".utf8))
            keychain.context = other
            #expect(Self.code { _ = try keychain.string(for: "k") } == .authenticationFailed)
        }
    }

    @Test("A context of the program's own type is refused")
    func foreignContext() throws {
        final class Foreign: KeychainContext {}
        try withKeychain { _ in
            var keychain = Self.keychain
            keychain.context = Foreign()
            #expect(Self.code { _ = try keychain.string(for: "k") } == .parameter)
        }
    }
}
