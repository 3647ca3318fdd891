import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import Observation
import SwiftKeychain
import Synchronization
import Testing

@Suite("@Keychained") struct KeychainedTests {
    private struct Session {
        @Keychained("token", in: Keychain(service: "service")) var token: String?
        @Keychained("count", in: Keychain(service: "service")) var count: Int?
    }

    @Observable fileprivate final class Model {
        @ObservationIgnored @Keychained("token", in: Keychain(service: "service")) var token: String?
    }

    private actor Agent {
        @Keychained("token", in: Keychain(service: "service")) var token: String?

        func renew() async throws -> String? {
            token = "blocking"
            try await $token.set("waiting")
            return try await $token.get()
        }
    }

    @Test("The property is what the keychain has, and nil removes it", arguments: KeychainHost.carriers)
    func property(_ host: KeychainHost) throws {
        try withKeychain(host) { _ throws in
            let session = Session()
            #expect(session.token == nil && session.$token.error == nil)
            session.token = "t"
            session.count = 3
            #expect(session.token == "t" && Session().token == "t" && Session().count == 3)
            #expect(try Keychain(service: "service").data(for: "token") == Data("t".utf8))
            session.token = nil
            #expect(try !Keychain(service: "service").contains("token"))
            #expect(try session.$token.get() == nil)
        }
    }

    @Test("A failure is told until the next success, and changes nothing")
    func failure() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let session = Session()
            session.token = "t"
            try test.lock(.now)
            #expect(session.token == nil)
            #expect(session.$token.error?.code == .interactionNotAllowed)
            #expect(KeychainValuesTests.code { _ = try session.$token.get() } == .interactionNotAllowed)
            session.token = "u"
            #expect(session.$token.error?.code == .interactionNotAllowed)
            #expect(KeychainValuesTests.code { try session.$token.set("u") } == .interactionNotAllowed)
            try test.unlock("1234")
            #expect(session.token == "t")
            session.token = "v"
            #expect(session.token == "v" && session.$token.error == nil)
        }
    }

    @Test("An actor waits without blocking")
    func actor() async throws {
        try await withKeychain { _ in
            let token = try await Agent().renew()
            #expect(token == "waiting")
            #expect(Session().token == "waiting")
        }
    }

    @Test("Observers are told of assignments and of failures")
    func observation() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let model = Model()
            let (values, errors) = (Counter(), Counter())
            withObservationTracking {
                _ = model.token
            } onChange: {
                values.count()
            }
            withObservationTracking {
                _ = model.$token.error
            } onChange: {
                errors.count()
            }
            model.token = "t"
            #expect(values.value == 1 && errors.value == 0)
            try test.lock(.now)
            _ = model.token
            #expect(values.value == 1 && errors.value == 1)
        }
    }
}

@Suite("Tokens and credentials") struct TokenStoreTests {
    static func tokens(_ number: Int, expires: Date? = nil) -> TokenStore.Tokens {
        .init(accessToken: "access \(number)", refreshToken: "refresh \(number)", expires: expires)
    }

    static let past = Date(timeIntervalSinceReferenceDate: 10)
    static let now = Date(timeIntervalSinceReferenceDate: 1_000)
    static let future = Date(timeIntervalSinceReferenceDate: 9_000)

    private let store = TokenStore(Keychain(service: "service"), now: { Self.now })

    @Test("Both tokens are stored and removed together", arguments: KeychainHost.carriers)
    func both(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            #expect(try store.tokens() == nil)
            #expect(try !store.hasAccessToken())
            try store.save(Self.tokens(1, expires: Self.future))
            #expect(try store.tokens() == Self.tokens(1, expires: Self.future))
            #expect(try store.hasAccessToken())
            try store.save(Self.tokens(2, expires: Self.past))
            #expect(try !store.hasAccessToken())
            #expect(try store.remove())
            #expect(try store.tokens() == nil)
        }
    }

    @Test("A locked store is not one without a token")
    func locked() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            try store.save(Self.tokens(1))
            try test.lock(.now)
            #expect(KeychainValuesTests.code { _ = try store.hasAccessToken() } == .interactionNotAllowed)
        }
    }

    @Test("Many callers cause one refresh, and all get what it brings")
    func oneRefresh() async throws {
        try await withKeychain { _ in
            let (store, calls) = (store, Counter())
            try await store.save(Self.tokens(1, expires: Self.now + 5))
            let found = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await store.accessToken { old in
                            #expect(old == Self.tokens(1, expires: Self.now + 5))
                            calls.count()
                            await Task.yield()
                            return Self.tokens(2, expires: Self.future)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found.count == 20 && Set(found) == ["access 2"])
            #expect(calls.value == 1)
            #expect(try await store.tokens() == Self.tokens(2, expires: Self.future))
            #expect(try await store.accessToken { _ in throw CancellationError() } == "access 2")
        }
    }

    @Test(
        "A token that another program has refreshed meanwhile is taken, also if ours was refused",
        arguments: [true, false])
    func otherProgram(_ isRefused: Bool) async throws {
        struct Refused: Error {}
        try await withKeychain { _ in
            let store = store
            try await store.save(Self.tokens(1, expires: Self.past))
            let token = try await store.accessToken { _ in
                try await store.save(Self.tokens(7, expires: Self.future))
                if isRefused { throw Refused() }
                return Self.tokens(8, expires: Self.future)
            }
            #expect(token == "access 7")
        }
    }

    @Test("A refresh that fails says so and changes nothing, and the next caller tries again")
    func failedRefresh() async throws {
        struct Refused: Error {}
        try await withKeychain { _ in
            try await store.save(Self.tokens(1, expires: Self.past))
            await #expect(throws: Refused.self) { try await store.accessToken { _ in throw Refused() } }
            #expect(try await store.tokens() == Self.tokens(1, expires: Self.past))
            #expect(try await store.accessToken { _ in Self.tokens(2) } == "access 2")
        }
    }

    @Test(
        "Changing a part of a value that cannot be read removes nothing, and its error stays",
        arguments: KeychainHost.carriers)
    func changeInPlace(_ host: KeychainHost) throws {
        struct Holder {
            @Keychained("login", in: Keychain(service: "service")) var login: KeychainValuesTests.Login?
        }
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            let holder = Holder()
            holder.login = .init(name: "ada", pin: 1)
            try test.lock(.now)
            holder.login?.pin = 2
            #expect(holder.$login.error?.code == .interactionNotAllowed)
            try test.unlock("1234")
            #expect(holder.login == .init(name: "ada", pin: 1))
            holder.login?.pin = 3
            #expect(holder.login?.pin == 3 && holder.$login.error == nil)
            holder.login = nil
            #expect(try !Keychain(service: "service").contains("login"))
        }
    }

    @Test("What a server gave and could not be stored is stored by the next call, and not asked for again")
    func lockedDuringRefresh() async throws {
        try await withKeychain { test in
            try test.setPasscode("1234")
            let store = store
            try await store.save(Self.tokens(1, expires: Self.past))
            await #expect(throws: KeychainError.self) {
                try await store.accessToken { _ in
                    try test.lock(.now)
                    return Self.tokens(2)
                }
            }
            try test.unlock("1234")
            let token = try await store.accessToken { _ in throw KeychainError(.internalFailure, message: "asked again")
            }
            #expect(token == Self.tokens(2).accessToken)
        }
    }

    @Test("After a sign-out nothing comes back")
    func signOut() async throws {
        try await withKeychain { _ in
            let store = store
            #expect(try await store.accessToken { _ in Self.tokens(1) } == nil)
            try await store.save(Self.tokens(1, expires: Self.past))
            let token = try await store.accessToken { _ in
                try await store.remove()
                return Self.tokens(2)
            }
            #expect(token == nil)
            #expect(try await store.tokens() == nil)
        }
    }

    @Test("Credentials are kept by name", arguments: KeychainHost.carriers)
    func credentials(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let store = CredentialStore<KeychainValuesTests.Login>(Keychain(service: "logins"))
            #expect(try store.credentials(for: "b") == nil)
            try store.save(.init(name: "b", pin: 2), for: "b")
            try store.save(.init(name: "a", pin: 1), for: "a")
            #expect(try store.names() == ["a", "b"])
            #expect(try store.credentials(for: "b") == .init(name: "b", pin: 2))
            #expect(try store.remove("a"))
            #expect(try !store.remove("a"))
            #expect(try store.removeAll() == 1)
            #expect(try store.removeAll() == 0)
        }
    }

    @Test("Credentials have every call for tasks too")
    func credentialsInTasks() async throws {
        try await withKeychain { _ in
            let store = CredentialStore<KeychainValuesTests.Login>(Keychain(service: "logins"))
            for name in ["b", "a"] { try await store.save(.init(name: name, pin: 1), for: name) }
            #expect(try await store.names() == ["a", "b"])
            #expect(try await store.credentials(for: "b") == .init(name: "b", pin: 1))
            #expect(try await store.remove("a"))
            #expect(try await store.removeAll() == 1)
        }
    }
}

private final class Counter: Sendable {
    private let number = Atomic(0)
    func count() { number.add(1, ordering: .relaxed) }
    var value: Int { number.load(ordering: .relaxed) }
}

@Suite("KeychainError") struct KeychainErrorTests {
    @Test("Every status has a meaning and an advice in each language, and no two languages share one")
    func languages() {
        for status in [
            -4, -36, -34, -50, -108, -128, -25260, -25291, -25292, -25293, -25294, -25299, -25300, -25302, -25303,
            -25306, -25308, -26275, -26276, -34018, 12345,
        ] {
            let error = KeychainError(.init(status: Int32(status)), message: "m")
            for texts in [
                KeychainError.Language.allCases.map(error.meaning), KeychainError.Language.allCases.map(error.advice),
            ] {
                #expect(Set(texts).count == 3 && !texts.contains(""))
            }
        }
    }

    @Test("The description has the meaning and what was asked")
    func description() {
        let error = KeychainError(.itemNotFound, message: "no password matches kSecAttrAccount")
        #expect(error.localizedDescription.contains("no password matches kSecAttrAccount"))
        #expect(error.failureReason == error.message)
        #expect(error.recoverySuggestion?.isEmpty == false)
        #expect(error.status == -25300)
        #expect("\(error)" == "no password matches kSecAttrAccount [-25300]")
    }

    @Test(
        "The language is that of the environment",
        arguments: [
            (["LANG": "ja_JP.UTF-8"], "ja"), (["LANG": "ko_KR.UTF-8"], "ko"), (["LANG": "de_DE.UTF-8"], "en"),
            ([:], "en"),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": "ko_KR"], "ko"), (["LANG": "ja_JP.UTF-8", "LC_MESSAGES": "C"], "en"),
            (["LANG": "en_US.UTF-8", "LANGUAGE": "de:ko:ja"], "ko"), (["LANG": "C.UTF-8", "LANGUAGE": "ja"], "en"),
            (["LANG": "ja_JP.UTF-8", "LC_ALL": ""], "ja"),
        ])
    func environment(_ environment: [String: String], _ language: String) {
        #expect(KeychainError.Language(environment).rawValue == language)
    }
}
