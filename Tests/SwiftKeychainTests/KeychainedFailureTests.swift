import Foundation
import KeychainModel
import KeychainTestSupport
import Observation
import SwiftKeychain
import Synchronization
import Testing

@Suite("What a property does when the keychain refuses") struct KeychainedFailureTests {
    private struct Session {
        @Keychained("token", in: Keychain(service: "service")) var token: String?
    }

    @Test("A sign-out while the keychain is locked leaves no token that comes back", arguments: KeychainHost.carriers)
    func signOutWhileLocked(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            let session = Session()
            session.token = "t"
            try test.lock(.now)
            #expect(session.token == nil && session.$token.error?.code == .interactionNotAllowed)
            session.token = nil
            #expect(session.$token.error == nil)
            try test.unlock("1234")
            #expect(session.token == nil && session.$token.error == nil)
        }
    }

    @Test("An assignment that was not carried out is told until one is, whatever is read meanwhile")
    func failedAssignment() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let session = Session()
            session.token = "t"
            try test.lock(.now)
            session.token = "u"
            try test.unlock("1234")
            #expect(session.token == "t" && session.$token.error?.code == .interactionNotAllowed)
            session.token = "v"
            #expect(session.token == "v" && session.$token.error == nil)
        }
    }

    @Test("Observers hear of each assignment that fails, also after a read that failed alike")
    func observersHear() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let session = Session()
            session.token = "t"
            try test.lock(.now)
            _ = session.token
            let count = Mutex(0)
            withObservationTracking {
                _ = session.$token.error
            } onChange: {
                count.withLock { $0 += 1 }
            }
            session.token = "u"
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test("A change in place of what cannot be read removes nothing, although a read succeeds meanwhile")
    func changeInPlace() throws {
        func change<Value>(_ value: inout Value, _ meanwhile: () throws -> Void) rethrows { try meanwhile() }
        try withKeychain { test in
            try test.setPasscode("1234")
            let session = Session()
            session.token = "t"
            try test.lock(.now)
            try change(&session.token) {
                try test.unlock("1234")
                #expect(session.token == "t")
            }
            #expect(session.$token.error?.code == .interactionNotAllowed)
            #expect(session.token == "t")
        }
    }

    private struct Settings {
        @Keychained("flag", in: Keychain(service: "service")) var flag = false
        @Keychained("count", in: Keychain(service: "service")) var count: Int = 7
        @Keychained("name", in: Keychain(service: "service")) var name: String? = "nobody"
    }

    @Test("A default value stands for an item that is not there, and is not stored", arguments: KeychainHost.carriers)
    func defaultValues(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            let (settings, keychain) = (Settings(), Keychain(service: "service"))
            #expect(!settings.flag && settings.count == 7 && settings.name == "nobody")
            #expect(try keychain.keys().isEmpty)
            settings.flag.toggle()
            settings.count += 1
            settings.name = "ada"
            #expect(Settings().flag && Settings().count == 8 && Settings().name == "ada")
            #expect(try settings.$count.get() == 8 && keychain.value(Bool.self, for: "flag") == true)
            settings.name = nil
            #expect(try settings.name == "nobody" && !keychain.contains("name"))
            try test.setPasscode("1234")
            try test.lock(.now)
            #expect(settings.count == 7 && settings.$count.error?.code == .interactionNotAllowed)
            settings.count += 1
            try test.unlock("1234")
            #expect(settings.count == 8 && settings.$count.error?.code == .interactionNotAllowed)
        }
    }

    private final class Account {
        @Keychained var token: String?
        @Keychained var count: Int

        init(_ keychain: Keychain) {
            _token = Keychained("token", in: keychain)
            _count = Keychained(wrappedValue: 0, "count", in: keychain)
        }
    }

    @Test("The initialiser of an object hands a keychain in")
    func handedIn() throws {
        try withKeychain { _ throws in
            let account = Account(Keychain(service: "handed in"))
            account.token = "t"
            account.count += 1
            #expect(try Keychain(service: "handed in").string(for: "token") == "t")
            #expect(account.count == 1 && account.$count.key == "count")
        }
    }

    @Test("A change of nothing in place stores and removes nothing")
    func nothing() throws {
        struct Holder {
            @Keychained("login", in: Keychain(service: "service")) var login: KeychainValuesTests.Login?
        }
        func change<Value>(_ value: inout Value, _ meanwhile: () throws -> Void) rethrows { try meanwhile() }
        try withKeychain { _ throws in
            let (holder, other) = (Holder(), Holder())
            change(&holder.login) { other.login = .init(name: "ada", pin: 1) }
            holder.login?.pin = 2
            #expect(other.login == .init(name: "ada", pin: 2))
        }
    }
}
