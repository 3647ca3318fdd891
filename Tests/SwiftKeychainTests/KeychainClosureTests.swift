import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Closures that decide about items") struct KeychainClosureTests {
    private static let keychain = Keychain(service: "service")

    @Test("A transaction that calls the keychain itself is told so at the first call", arguments: KeychainHost.carriers)
    func transaction(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            var rounds = 0
            let error = #expect(throws: KeychainError.self) {
                try keychain.transaction { changes in
                    rounds += 1
                    let count = try changes.value(Int.self, for: "m") ?? 0
                    try keychain.set(count + 1, for: "m")
                    try changes.set(count, for: "m")
                }
            }
            #expect(rounds == 1 && error?.code == .parameter)
            #expect(error?.message.contains("closure") == true)
            let isThere = try keychain.contains("m")
            #expect(!isThere)
        }
    }

    @Test("So is one that reads beside the transaction, makes another one, or uses other calls about the same items")
    func otherCalls() async throws {
        try await withKeychain { _ in
            let keychain = Self.keychain
            try await keychain.set("x", for: "k")
            try await Keychain(service: "other").set("y", for: "l")
            try await keychain.transaction { changes in
                #expect(throws: KeychainError(.parameter)) { try keychain.migrate(from: Keychain(service: "other")) }
                #expect(throws: KeychainError(.parameter)) { try keychain.string(for: "k") }
                #expect(throws: KeychainError(.parameter)) { try keychain.contains("k") }
                #expect(throws: KeychainError(.parameter)) { try keychain.remove("k") }
                #expect(throws: KeychainError(.parameter)) { try keychain.removeAll() }
                #expect(throws: KeychainError(.parameter)) { try keychain.transaction { try $0.set("y", for: "k") } }
                #expect(throws: KeychainError(.parameter)) { try KeychainItems().find(Keychain.GenericPassword.self) }
                #expect(throws: KeychainError(.parameter)) {
                    try KeychainItems().remove(Keychain.GenericPassword.self) { $0.service = "service" }
                }
                let (value, keys) = (try changes.string(for: "k"), try changes.keys())
                #expect(value == "x" && keys == ["k"])
            }
            #expect(try await keychain.string(for: "k") == "x")
        }
    }

    @Test("Calls about other items are made, and all of them after the closure")
    func otherItems() throws {
        try withKeychain { _ in
            let keychain = Self.keychain
            var mine = keychain
            mine.keyPrefix = "mine "
            try mine.transaction { changes in
                try Keychain(service: "other").set("x", for: "k")
                try Keychain(server: .init("example.com")).set("x", for: "k")
                try keychain.set("x", for: "yours k")
                try changes.set("x", for: "k")
            }
            try keychain.modify(Int.self, for: "count") { value throws in
                #expect(throws: KeychainError(.parameter)) { try keychain.value(Int.self, for: "count") }
                #expect(try keychain.string(for: "yours k") == "x")
                value = 1
            }
            struct Stop: Error {}
            #expect(throws: Stop.self) { try keychain.transaction { _ in throw Stop() } }
            #expect(try keychain.value(Int.self, for: "count") == 1)
            #expect(try mine.string(for: "k") == "x")
        }
    }

    @Test("Another thread goes on while a closure decides")
    func otherThread() throws {
        try withKeychain { _ throws in
            let keychain = Self.keychain
            try keychain.transaction { changes in
                try keychain.elsewhere { try $0.set("y", for: "l") }
                try changes.set("x", for: "k")
            }
            #expect(try keychain.keys().sorted() == ["k", "l"])
        }
    }
}
