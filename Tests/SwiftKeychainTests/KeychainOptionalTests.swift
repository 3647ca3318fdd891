import Foundation
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// `nil` removes, whatever its type is and however the call learns of it. Bytes are bytes, whatever holds them.
@Suite("Values that may be nil, and bytes") struct KeychainOptionalTests {
    private let keychain = Keychain(service: "service")

    /// The form of a call is known only when the program runs.
    private func store<Value: Encodable>(_ value: Value) throws { try keychain.set(value, for: "k") }

    /// The calls remove the value that was there, each of them.
    private func expectRemovals(_ calls: () throws -> Void...) throws {
        for (number, call) in calls.enumerated() {
            try keychain.set("former", for: "k")
            try call()
            #expect(try !keychain.contains("k"), "\(number)")
        }
    }

    @Test("A variable that is nil removes the item", arguments: KeychainHost.carriers)
    func variables(_ host: KeychainHost) throws {
        let (text, data, bytes, number): (String?, Data?, [UInt8]?, Int?) = (nil, nil, nil, nil)
        let (twice, inner): (String??, String??) = (nil, .some(nil))
        try withKeychain(host) { _ in
            try expectRemovals(
                { try keychain.set(text, for: "k") }, { try keychain.set(data, for: "k") },
                { try keychain.set(bytes, for: "k") }, { try keychain.set(number, for: "k") },
                { try keychain.set(twice, for: "k") }, { try keychain.set(inner, for: "k") },
                { try keychain.transaction { try $0.set(text, for: "k") } },
                { try keychain.transaction { try $0.set(inner, for: "k") } },
                { try keychain.update(text, for: "k") },
                { _ = try keychain.compareAndSwap("k", from: "former", to: inner) })
        }
    }

    @Test("A nil that only the running program knows of removes the item too")
    func generic() throws {
        try withKeychain { _ in
            let erased: any Encodable = Data?.none
            try expectRemovals(
                { try store(String?.none) }, { try store([UInt8]?.none) }, { try store(Int??.some(nil)) },
                { try store(erased) })
            try store(Data?.some(Data([1, 2])))
            #expect(try keychain.data(for: "k") == Data([1, 2]))
            try store(String??.some("x"))
            #expect(try keychain.string(for: "k") == "x")
        }
    }

    @Test("Removing what is not there is no failure, and updating it is")
    func nothingThere() throws {
        let text: String? = nil
        try withKeychain { _ in
            try keychain.set(text, for: "k")
            #expect(KeychainValuesTests.code { try keychain.update(text, for: "k") } == .itemNotFound)
            #expect(KeychainValuesTests.code { try keychain.add(text, for: "k") } == .parameter)
            #expect(try !keychain.contains("k"))
            #expect(try keychain.compareAndSwap("k", from: String??.some(nil), to: "x"))
            #expect(try keychain.string(for: "k") == "x")
        }
    }

    @Test("In tasks nil removes the item")
    func tasks() async throws {
        let text: String? = nil
        try await withKeychain { (_: TestKeychain) async throws in
            try await keychain.set("x", for: "k")
            try await keychain.set(text, for: "k")
            let isThere = try await keychain.contains("k")
            #expect(!isThere)
        }
    }

    @Test("Bytes are stored as themselves and read as themselves", arguments: KeychainHost.carriers)
    func bytes(_ host: KeychainHost) throws {
        func load<Value: Decodable>(_ type: Value.Type) throws -> Value? { try keychain.value(for: "k") }
        let bytes: [UInt8] = [1, 2, 255]
        try withKeychain(host) { _ in
            try keychain.set(bytes, for: "k")
            #expect(try keychain.data(for: "k") == Data(bytes))
            #expect(try keychain.value([UInt8].self, for: "k") == bytes)
            #expect(try load([UInt8]?.self) == bytes)
            try store(ContiguousArray(bytes))
            #expect(try keychain.data(for: "k") == Data(bytes))
            #expect(try load(ContiguousArray<UInt8>.self) == ContiguousArray(bytes))
            try keychain.set([UInt8](), for: "k")
            #expect(try keychain.data(for: "k") == Data())
            // An array without elements is of any type to a cast, and a program means JSON by it.
            try store([Int]())
            #expect(try keychain.string(for: "k") == "[]")
            #expect(try keychain.value([Int].self, for: "k") == [])
            try keychain.transaction { try $0.set(bytes, for: "k") }
            #expect(try keychain.data(for: "k") == Data(bytes))
        }
    }
}
