import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Logging
import Testing

@testable import KeychainDaemon

@Suite struct UserStoresTests {
    private func stores(
        in state: URL, _ account: @escaping @Sendable (uid_t) -> String?,
        openEngine: @escaping UserStores.OpenEngine = { _, _, _ throws(KeychainError) in FakeEngine() }
    ) throws -> UserStores {
        let stores = UserStores(
            in: state, watchesSessions: false, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            account: account, openEngine: openEngine)
        try stores.prepare()
        return stores
    }

    private func refusal(_ stores: UserStores, _ user: uid_t) -> String? {
        do throws(ConnectionEnd) {
            _ = try stores.store(of: user)
            return nil
        } catch {
            guard case .goodbye(.refused, let text) = error else { return nil }
            return text
        }
    }

    @Test("Each user has a store of its own, in a directory that is named after the user's number")
    func own() throws {
        try withTemporaryDirectory { state in
            let opened = Observed<[String]>([])
            let stores = try stores(in: state, { "name\($0)" }) { user, account, directory throws(KeychainError) in
                opened.update { $0.append("\(user) \(account) \(directory.lastPathComponent)") }
                return FakeEngine()
            }
            defer { stores.stop() }
            for user in [1000, 1001, 1000] as [uid_t] { try stores.store(of: user).engine() }
            #expect(opened.value == ["1000 name1000 1000", "1001 name1001 1001"])
            #expect(stores.all.map(\.user).sorted() == [1000, 1001])
            for store in stores.all { store.close() }
        }
    }

    @Test("Numbers without an account, of nobody, and those that go to one service after the other have no store")
    func nobody() throws {
        try withTemporaryDirectory { state in
            let stores = try stores(in: state) { $0 == 1002 ? nil : "name" }
            defer { stores.stop() }
            for user in [1002, 61_184, 65_519, 65_534, 65_535, .max] as [uid_t] {
                #expect(refusal(stores, user)?.contains("user \(user) has no keychain here") == true)
            }
            for user in [0, 61_183, 65_520] as [uid_t] { #expect(refusal(stores, user) == nil) }
        }
    }

    @Test("A number that went to another person opens nothing of the former one, and nothing is lost")
    func otherName() throws {
        try withTemporaryDirectory { state in
            let name = Observed("anna")
            for _ in 1...2 {
                let stores = try stores(in: state) { _ in name.value }
                #expect(refusal(stores, 1000) == nil)
                name.update { $0 = "bert" }
                #expect(refusal(stores, 1000)?.contains("is that of anna, and the number belongs to bert now") == true)
                name.update { $0 = "anna" }
                #expect(refusal(stores, 1000) == nil)
                stores.stop()
            }
        }
    }

    @Test("A store that does not open harms its user alone")
    func broken() throws {
        try withTemporaryDirectory { state in
            let stores = try stores(in: state, { _ in "name" }) { user, _, _ throws(KeychainError) in
                if user == 1000 { throw KeychainError(.notAvailable, message: "damaged") }
                return FakeEngine()
            }
            defer { stores.stop() }
            #expect(throws: KeychainError.self) { try stores.store(of: 1000).engine() }
            try stores.store(of: 1001).engine()
            for store in stores.all { store.close() }
        }
    }
}
