import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Values that expire") struct KeychainExpirationTests {
    private let keychain = Keychain(service: "service")

    private struct Properties {
        @Keychained("property", in: Keychain(service: "service"), expires: .after(minutes: 1)) var property: String?
    }

    /// In seconds from now; nil: never.
    private func rest(_ key: String, _ test: TestKeychain) throws -> Double? {
        let items = try KeychainItems().find(Keychain.GenericPassword.self) { $0.account = key }
        return items.first?.expires.map { $0.timeIntervalSinceReferenceDate - test.clock.now }
    }

    @Test("Every call that writes gives a value the moment that it names", arguments: KeychainHost.carriers)
    func named(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try keychain.set("a", for: "k", expires: .after(hours: 1))
            #expect(try rest("k", test) == 3_600)
            try keychain.update("c", for: "k", expires: .after(.seconds(90)))
            #expect(try rest("k", test) == 90)
            try keychain.transaction { try $0.set("d", for: "k", expires: .after(days: 1)) }
            #expect(try rest("k", test) == 86_400)
            try keychain.set("e", for: "k", expires: .never)
            #expect(try rest("k", test) == nil)
            try keychain.add("f", for: "other", expires: .at(Date(timeIntervalSinceReferenceDate: test.clock.now + 5)))
            #expect(try rest("other", test) == 5)
            Properties().property = "g"
            #expect(try rest("property", test) == 60)
        }
    }

    @Test("A call that writes and names no moment leaves the one that is there", arguments: KeychainHost.carriers)
    func unnamed(_ host: KeychainHost) throws {
        let keychain = keychain
        let property = Keychained<String?>("k", in: keychain)
        let writes: [@Sendable () throws -> Void] = [
            { try keychain.set("b", for: "k") }, { try keychain.update("b", for: "k") },
            { try keychain.transaction { try $0.set("b", for: "k") } }, { property.wrappedValue = "b" },
            { try keychain.modify(String.self, for: "k") { $0 = "b" } },
            { _ = try keychain.compareAndSwap("k", from: "a", to: "b") },
        ]
        try withKeychain(host) { test in
            for (number, write) in writes.enumerated() {
                try keychain.set("a", for: "k", expires: .after(hours: 1))
                try write()
                #expect(try keychain.string(for: "k") == "b", "\(number)")
                #expect(try rest("k", test) == 3_600, "\(number)")
            }
            test.clock.advance(by: 3_600)
            try keychain.set("c", for: "k")
            #expect(try rest("k", test) == nil, "what has expired leaves its moment to nothing")
        }
    }

    @Test("A value that is changed in its place keeps its date", arguments: KeychainHost.carriers)
    func kept(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try keychain.set(1, for: "k", expires: .after(hours: 1))
            try keychain.modify(Int.self, for: "k") { $0 = 2 }
            #expect(try keychain.compareAndSwap("k", from: 2, to: 3))
            #expect(try rest("k", test) == 3_600)
            let other = Keychain(service: "other")
            #expect(try other.migrate(from: keychain) == 1)
            #expect(try rest("k", test) == 3_600)
            test.clock.advance(by: 3_600)
            #expect(try other.value(Int.self, for: "k") == nil)
            #expect(try !other.contains("k") && other.keys().isEmpty && other.count() == 0)
            #expect(try other.compareAndSwap("k", from: nil, to: 4))
            #expect(try rest("k", test) == nil)
        }
    }

    @Test("A length of time is rounded up to a millisecond, whatever its unit")
    func lengths() throws {
        try withKeychain { test in
            let lengths: [(Keychain.Expiration, Double)] = [
                (.after(.nanoseconds(1)), 0.001), (.after(.milliseconds(1)), 0.001),
                (.after(.microseconds(1_001)), 0.002),
                (.after(.seconds(90)), 90), (.after(.milliseconds(86_399_999)), 86_399.999),
                (.after(minutes: 90), 5_400),
                (.after(hours: 24), 86_400), (.after(days: 7), 604_800),
            ]
            for (expires, seconds) in lengths {
                try keychain.set("x", for: "k", expires: expires)
                #expect(abs((try rest("k", test) ?? 0) - seconds) < 0.000_5)
            }
        }
    }

    @Test("Typed items get a date, keep it, and lose it", arguments: KeychainHost.carriers)
    func items(_ host: KeychainHost) throws {
        try withKeychain(host) { (test: TestKeychain) throws in
            let items = KeychainItems()
            var key = Keychain.Key()
            key.label = "key"
            key.secret = Data([1])
            #expect(try items.add(key, expires: .after(hours: 1)).expires != nil)
            func update(_ expires: Keychain.Expiration?) throws -> Date? {
                try items.update(Keychain.Key.self, where: { $0.label = "key" }, expires: expires) {
                    $0.alias = Data([2])
                }
                return try items.find(Keychain.Key.self).first?.expires
            }
            #expect(try update(nil) == Date(timeIntervalSinceReferenceDate: test.clock.now + 3_600))
            #expect(try update(.after(.seconds(1))) == Date(timeIntervalSinceReferenceDate: test.clock.now + 1))
            #expect(try update(.never) == nil)
        }
    }

    @Test("A date that has passed and a length of nothing are refused, and the former value stays")
    func refused() throws {
        try withKeychain { test in
            try keychain.set("a", for: "k")
            let now = Date(timeIntervalSinceReferenceDate: test.clock.now)
            let impossible: [Keychain.Expiration] = [
                .at(now), .at(.distantPast), .at(Date(timeIntervalSinceReferenceDate: .infinity)), .after(.zero),
                .after(.seconds(-1)), .after(.seconds(Int64.max)), .after(days: 1_000_000_000), .after(days: .max),
                .after(hours: .min), .after(minutes: -1),
            ]
            for expires in impossible {
                #expect(KeychainValuesTests.code { try keychain.set("b", for: "k", expires: expires) } == .parameter)
            }
            #expect(try keychain.string(for: "k") == "a")
        }
    }

    @Test("Through a daemon, too, no more than 10,000 changes go at once", arguments: KeychainHost.carriers)
    func mostChanges(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            #expect(
                KeychainValuesTests.code {
                    try keychain.transaction { changes in
                        for number in 0...10_000 { changes.remove("\(number)") }
                    }
                } == .parameter)
        }
    }

    @Test("A prefix that is removed takes nothing else along", arguments: KeychainHost.carriers)
    func prefix(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            for key in ["a", "user 1 a", "user 1 b", "user 10 a"] { try keychain.set("x", for: key) }
            var user = keychain
            user.keyPrefix = "user 1 "
            #expect(try user.removeAll() == 2)
            #expect(try keychain.keys().sorted() == ["a", "user 10 a"])
        }
    }
}
