import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Errors as programs look at them") struct KeychainErrorPatternTests {
    /// What stands in for a keychain in a program's own tests.
    private struct Fake {
        func string(for _: String) throws(KeychainError) -> String? { throw KeychainError(.interactionNotAllowed) }
    }

    private func other() throws {}

    @Test("A code is a pattern beside other errors, and alone")
    func patterns() {
        let fake = Fake()
        do {
            try other()
            _ = try fake.string(for: "a")
            Issue.record("nothing is thrown")
        } catch KeychainError.userCancelled {
            Issue.record("another code")
        } catch KeychainError.interactionNotAllowed {
        } catch {
            Issue.record(error)
        }
        do {
            _ = try fake.string(for: "a")
            Issue.record("nothing is thrown")
        } catch .interactionNotAllowed {
        } catch {
            Issue.record(error)
        }
        do {
            try other()
            throw DataProtectionError(.locked, "/p", "m")
        } catch DataProtectionError.system {
            Issue.record("another code")
        } catch DataProtectionError.locked {
        } catch {
            Issue.record(error)
        }
        do { throw CocoaError(.fileNoSuchFile) } catch KeychainError.interactionNotAllowed {
            Issue.record("another error")
        } catch DataProtectionError.system {
            Issue.record("another error")
        } catch {}
    }

    @Test("Errors of one code are equal, whatever they say")
    func equality() {
        let error = KeychainError(.itemNotFound, message: "a", cause: CancellationError())
        #expect(error == KeychainError(.itemNotFound))
        #expect(error != KeychainError(.duplicateItem, message: "a"))
        #expect(KeychainError(.itemNotFound).message == "itemNotFound (-25300)")
        #expect(throws: KeychainError(.interactionNotAllowed)) { try Fake().string(for: "a") }
    }

    @Test("As an NSError it has Apple's domain and the status")
    func asNSError() {
        let error: any Error = KeychainError(.interactionNotAllowed, message: "locked")
        #expect((error as NSError).domain == "NSOSStatusErrorDomain")
        #expect((error as NSError).code == -25308)
        #expect(error.localizedDescription.contains("(locked)"))
    }

    @Test("A cancelled task and a person who declines have one status and two codes")
    func cancelled() {
        #expect(KeychainError.Code.taskCancelled != .userCancelled)
        #expect(KeychainError.Code.taskCancelled.status == -128)
        #expect(KeychainError.Code.taskCancelled.description == "taskCancelled (-128)")
        #expect(KeychainError.Code(status: -128) == .userCancelled)
        for language in KeychainError.Language.allCases {
            let (ofTask, ofPerson) = (KeychainError(.taskCancelled), KeychainError(.userCancelled))
            #expect(ofTask.meaning(in: language) != ofPerson.meaning(in: language))
        }
    }

    // MARK: Closures

    private struct Stop: Error {}

    /// None of the calls throws another error, so these compile.
    private func typed(_ keychain: Keychain) throws(KeychainError) -> Int {
        try keychain.transaction { changes throws(KeychainError) in try changes.set("x", for: "k") }
        try keychain.transaction { $0.remove("l") }
        try keychain.modify(String.self, for: "k") { $0 = "y" }
        return try keychain.withSecret(for: "k") { $0.count } ?? 0
    }

    private func typedInTask(_ keychain: Keychain) async throws(KeychainError) -> Int {
        try await keychain.transaction { changes throws(KeychainError) in try changes.set("x", for: "k") }
        try await keychain.transaction { $0.remove("l") }
        try await keychain.modify(String.self, for: "k") { $0 = "y" }
        return try await keychain.withSecret(for: "k") { $0.count } ?? 0
    }

    @Test("Closures throw any error, and in a function that throws a keychain's alone that one")
    func closures() async throws {
        try await withKeychain { _ async throws in
            let keychain = Keychain(service: "service")
            #expect(try typed(keychain) == 1)
            #expect(try await typedInTask(keychain) == 1)
            #expect(throws: Stop.self) { try keychain.transaction { _ in throw Stop() } }
            #expect(throws: Stop.self) { try keychain.modify(String.self, for: "k") { _ in throw Stop() } }
            #expect(throws: Stop.self) { try keychain.withSecret(for: "k") { _ in throw Stop() } }
            await #expect(throws: Stop.self) { try await keychain.transaction { _ in throw Stop() } }
            await #expect(throws: Stop.self) { try await keychain.modify(String.self, for: "k") { _ in throw Stop() } }
            await #expect(throws: Stop.self) { try await keychain.withSecret(for: "k") { _ in throw Stop() } }
            #expect(try await keychain.string(for: "k") == "y")
        }
    }
}
