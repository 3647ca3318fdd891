import Dispatch
import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@Suite("Several programs and several changes") struct KeychainTransactionTests {
    static let keychain = Keychain(service: "service")

    @Test("All changes of a transaction are made, or none", arguments: KeychainHost.carriers)
    func allOrNone(_ host: KeychainHost) throws {
        struct Stop: Error {}
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            try keychain.set("old", for: "a")
            let count = try keychain.transaction { changes in
                try changes.set("new", for: "a")
                try changes.set(7, for: "b")
                changes.remove("none")
                return try changes.keys().count
            }
            #expect(count == 2)
            #expect(try keychain.string(for: "a") == "new")
            #expect(try keychain.value(Int.self, for: "b") == 7)
            #expect(throws: Stop.self) {
                try keychain.transaction { changes in
                    changes.remove("a")
                    throw Stop()
                }
            }
            // The last of them fails: it would be too large.
            #expect(throws: KeychainError.self) {
                try keychain.transaction { changes in
                    changes.remove("a")
                    try changes.set("c", for: "c")
                    try changes.set(Data(count: 65 << 20), for: "b")
                }
            }
            #expect(try keychain.keys().sorted() == ["a", "b"])
        }
    }

    @Test("What a transaction has changed is what it reads from then on")
    func ownChanges() throws {
        try withKeychain { _ in
            try Self.keychain.set("old", for: "a")
            try Self.keychain.transaction { changes in
                #expect(try changes.string(for: "a") == "old")
                try changes.set("new", for: "a")
                #expect(try changes.string(for: "a") == "new")
                changes.remove("a")
                #expect(try changes.string(for: "a") == nil)
                #expect(try !changes.contains("a"))
                try changes.set(Data([1]), for: "b")
                #expect(try changes.data(for: "b") == Data([1]))
                #expect(try changes.keys() == ["b"])
            }
            #expect(try Self.keychain.keys() == ["b"])
        }
    }

    enum Interference: CaseIterable { case changed, removed, added, anotherKey }

    @Test(
        "A transaction is done again if what it has read was changed meanwhile, and only then",
        arguments: KeychainHost.carriers, Interference.allCases)
    func again(_ host: KeychainHost, _ interference: Interference) throws {
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            try keychain.set(1, for: "a")
            var runs = 0
            try keychain.transaction { changes in
                runs += 1
                let a = try changes.value(Int.self, for: "a")
                let b = try changes.value(Int.self, for: "b")
                if runs == 1 {
                    try keychain.elsewhere { keychain in
                        switch interference {
                        case .changed: try keychain.set(10, for: "a")
                        case .removed: try keychain.remove("a")
                        case .added: try keychain.set(100, for: "b")
                        case .anotherKey: try keychain.set(1000, for: "c")
                        }
                    }
                }
                try changes.set((a ?? 0) + (b ?? 0), for: "sum")
            }
            #expect(runs == (interference == .anotherKey ? 1 : 2))
            let sums: [Interference: Int] = [.changed: 10, .removed: 0, .added: 101, .anotherKey: 1]
            #expect(try keychain.value(for: "sum") == sums[interference])
        }
    }

    @Test("A transaction that has looked at all keys is done again when there is another one")
    func keys() throws {
        try withKeychain { _ in
            let keychain = Self.keychain
            var runs = 0
            try keychain.transaction { changes in
                runs += 1
                let count = try changes.keys().count
                if runs == 1 { try keychain.elsewhere { try $0.set("x", for: "new") } }
                try changes.set(count, for: "count")
            }
            #expect(runs == 2)
            #expect(try keychain.value(for: "count") == 1)
        }
    }

    @Test(
        "A value is changed as it is at the moment, and swapped only if it is the one", arguments: KeychainHost.carriers
    )
    func compareAndSwap(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let keychain = Self.keychain
            #expect(try !keychain.compareAndSwap("k", from: 1, to: 2))
            #expect(try keychain.compareAndSwap("k", from: nil, to: 1))
            #expect(try !keychain.compareAndSwap("k", from: nil, to: 5))
            #expect(try keychain.compareAndSwap("k", from: 1, to: 2))
            var seen: [Int?] = []
            try keychain.modify(Int.self, for: "k") { value in
                seen.append(value)
                if seen.count == 1 { try keychain.elsewhere { try $0.set(40, for: "k") } }
                value = value.map { $0 + 2 }
            }
            #expect(seen == [2, 40])
            #expect(try keychain.value(for: "k") == 42)
            #expect(try keychain.compareAndSwap("k", from: 42, to: nil))
            #expect(try !keychain.contains("k"))
            try keychain.modify(Int.self, for: "k") { $0 = nil }
            try keychain.modify(Int.self, for: "k") { $0 = 1 }
            #expect(try keychain.value(for: "k") == 1)
        }
    }

    @Test("A counter that many threads count up misses nothing", arguments: KeychainHost.carriers)
    func counter(_ host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            let keychain = Self.keychain
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<5 { try await keychain.modify(Int.self, for: "count") { $0 = ($0 ?? 0) + 1 } }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keychain.value(for: "count") == 40)
        }
    }

    // MARK: Migration

    @Test("Items move to another service, group, prefix and protection at once", arguments: KeychainHost.carriers)
    func migration(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let old = Keychain(service: "old")
            for index in 0..<5 { try old.set(index, for: "k\(index)") }
            var new = Keychain(service: "new", accessGroup: "G2", accessibility: .afterFirstUnlock)
            new.keyPrefix = "v2."
            #expect(try new.migrate(from: old) == 5)
            #expect(try new.migrate(from: old) == 0)
            #expect(try old.count() == 0)
            #expect(try new.keys().sorted() == (0..<5).map { "k\($0)" })
            #expect(try new.value(for: "k3") == 3)
            let items = try KeychainItems().find(Keychain.GenericPassword.self)
            #expect(items.count == 5)
            #expect(items.allSatisfy { $0.accessGroup == "G2" && $0.accessControl?.accessibility == .afterFirstUnlock })
            #expect(items.allSatisfy { $0.account?.hasPrefix("v2.k") == true })
        }
    }

    @Test("Nothing moves if something is in the way, unless it is to give way")
    func migrationConflict() throws {
        try withKeychain { _ in
            let (old, new) = (Keychain(service: "old"), Keychain(service: "new"))
            for key in ["a", "b"] { try old.set("old", for: key) }
            try new.set("new", for: "b")
            #expect(KeychainValuesTests.code { try new.migrate(from: old) } == .duplicateItem)
            #expect(try old.count() == 2)
            #expect(try new.keys() == ["b"])
            #expect(try new.migrate(from: old, replacing: true) == 2)
            #expect(try new.string(for: "b") == "old")
        }
    }

    @Test("A migration to the same place moves nothing and loses nothing, with and without a prefix")
    func migrationToItself() throws {
        try withKeychain { _ in
            let keychain = Keychain(service: "s")
            try keychain.set("x", for: "k")
            try keychain.set("y", for: "p.l")
            #expect(try keychain.migrate(from: keychain, replacing: true) == 0)
            var prefixed = keychain
            prefixed.keyPrefix = "p."
            #expect(try prefixed.migrate(from: keychain, replacing: true) == 1)
            #expect(try keychain.keys().sorted() == ["p.k", "p.l"])
            #expect(try keychain.migrate(from: prefixed) == 2)
            #expect(try keychain.keys().sorted() == ["k", "l"])
            #expect(KeychainValuesTests.code { try keychain.migrate(from: Keychain(server: .init("h"))) } == .parameter)
        }
    }

    @Test("Keys that look alike are two keys in a transaction, too")
    func keysThatLookAlike() throws {
        try withKeychain { _ in
            let (one, two) = ("caf\u{e9}", "cafe\u{301}")
            try Self.keychain.set("A", for: one)
            try Self.keychain.set("B", for: two)
            try Self.keychain.transaction { changes in
                #expect(try changes.string(for: one) == "A")
                #expect(try changes.string(for: two) == "B")
                #expect(try changes.keys().count == 2)
                try changes.set("A2", for: one)
                try changes.set("B2", for: two)
            }
            #expect(try Self.keychain.string(for: one) == "A2")
            #expect(try Self.keychain.string(for: two) == "B2")
            try Self.keychain.transaction { changes in
                changes.remove(one)
                try changes.set("B3", for: two)
            }
            #expect(try Self.keychain.keys().map { Array($0.utf8) } == [Array(two.utf8)])
        }
    }

    @Test("A migration that would move an item twice, or to another keychain, is refused and moves nothing")
    func refusedMigrations() throws {
        try withKeychain { test in
            for key in ["v2.x", "v2.v2.x", "y"] { try Self.keychain.set(key, for: key) }
            var old = Self.keychain
            old.keyPrefix = "v2."
            for replacing in [true, false] {
                #expect(
                    KeychainValuesTests.code { try Self.keychain.migrate(from: old, replacing: replacing) }
                        == .parameter)
            }
            let other = Connection(engine: try Engine(test.configuration), caller: Caller(groups: ["G1"]))
            #expect(
                KeychainValuesTests.code {
                    try Keychain(service: "other").connected(other).migrate(from: Self.keychain)
                } == .parameter)
            #expect(try Self.keychain.keys().sorted() == ["v2.v2.x", "v2.x", "y"])
            try Self.keychain.remove("v2.v2.x")
            #expect(try Self.keychain.migrate(from: old) == 1)
            #expect(try Self.keychain.migrate(from: old) == 0)
            #expect(try Self.keychain.string(for: "x") == "v2.x")
        }
    }

    // MARK: Changes

    @Test(
        "Changes by other programs are told, with their keys", .timeLimit(.minutes(2)), arguments: KeychainHost.carriers
    )
    func changes(_ host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            let keychain = Self.keychain
            try await keychain.set("x", for: "there")
            var changes = keychain.changes.makeAsyncIterator()
            try await Keychain(service: "other").set("x", for: "k")
            try await keychain.set("x", for: "k")
            #expect(try await changes.next() == .init(kind: .added, key: "k"))
            try await keychain.set("y", for: "k")
            #expect(try await changes.next() == .init(kind: .changed, key: "k"))
            try await keychain.remove("there")
            #expect(try await changes.next() == .init(kind: .removed, key: "there"))
        }
    }

    @Test(
        "What changes while the keychain is locked is told after the unlock", .timeLimit(.minutes(2)),
        arguments: KeychainHost.carriers)
    func changesWhileLocked(_ host: KeychainHost) async throws {
        try await withKeychain(host) { test in
            try test.setPasscode("1234")
            let keychain = Self.keychain
            try await keychain.set("x", for: "there")
            var changes = keychain.changes.makeAsyncIterator()
            try test.lock(.now)
            try await keychain.remove("there")
            try test.unlock("1234")
            #expect(try await changes.next() == .init(kind: .removed, key: "there"))
        }
    }

    @Test("A change by another engine on the same store is told", .timeLimit(.minutes(2)))
    func changesOfAnotherEngine() async throws {
        try await withKeychain { test in
            let other = Connection(engine: try Engine(test.configuration), caller: Caller(groups: ["G1"]))
            var changes = Self.keychain.changes.makeAsyncIterator()
            try await Self.keychain.connected(other).set("x", for: "k")
            #expect(try await changes.next() == .init(kind: .added, key: "k"))
        }
    }

    @Test("What changes while the daemon is away is told when it is back", .timeLimit(.minutes(5)))
    func changesAcrossARestart() async throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        // Not a daemon's own store: a second engine opens it while the first one is still there.
        let configuration = EngineConfiguration.test(in: directory)
        let caller = Caller(groups: ["G"])
        let first = try Engine(configuration)
        defer { first.withdrawKeys() }
        let daemon = try InProcessDaemon(first, in: directory)
        let keychain = Self.keychain.connected(Connection(engine: daemon.carrier, caller: caller))
        for key in ["changed", "removed", "same"] { try await keychain.set("x", for: key) }
        var changes = keychain.changes.makeAsyncIterator()
        daemon.stop()
        let second = try Engine(configuration)
        let meanwhile = Self.keychain.connected(Connection(engine: second, caller: caller))
        try await meanwhile.set("y", for: "changed")
        try await meanwhile.remove("removed")
        try await meanwhile.set("x", for: "added")
        try FileManager.default.removeItem(at: directory.appendingPathComponent("socket"))
        let successor = try InProcessDaemon(second, in: directory)
        defer { successor.stop() }
        var told: Set<Keychain.Change> = []
        for _ in 0..<3 { if let change = try await changes.next() { told.insert(change) } }
        #expect(
            told == [
                .init(kind: .changed, key: "changed"), .init(kind: .removed, key: "removed"),
                .init(kind: .added, key: "added"),
            ])
        try await keychain.set("x", for: "later")
        #expect(try await changes.next() == .init(kind: .added, key: "later"))
    }

    @Test("Changes of a keychain that does not come back end with the error")
    func changesOfALostKeychain() async throws {
        try await withKeychain { test in
            let away = AwayHandler(test.engine)
            let keychain = Self.keychain.connected(Connection(engine: away, caller: Caller(groups: ["G1"])))
            var changes = keychain.changes(pause: .zero).makeAsyncIterator()
            away.leave()
            // The listener notices with the next change.
            try await Self.keychain.set("x", for: "k")
            var error = await #expect(throws: KeychainError.self) { try await changes.next() }
            #expect(error?.message == "away")
            #expect(away.looks == 60)
            #expect(try await changes.next() == nil)
            var late = keychain.changes(pause: .zero).makeAsyncIterator()
            error = await #expect(throws: KeychainError.self) { try await late.next() }
            #expect(error?.message == "away")
            #expect(away.looks == 61, "it never could be looked at")
        }
    }

    @Test("Changes of a group that is not held end with the error", arguments: KeychainHost.carriers)
    func changesOfAForeignGroup(_ host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            var changes = Keychain(service: "service", accessGroup: "G9").changes.makeAsyncIterator()
            let error = await #expect(throws: KeychainError.self) { try await changes.next() }
            #expect(error?.code == .missingEntitlement)
            let next = try await changes.next()
            #expect(next == nil)
        }
    }

    // MARK: Tasks

    @Test(
        "A task that is cancelled while the person is asked ends, and the item is as it was", .timeLimit(.minutes(2)),
        arguments: KeychainHost.carriers)
    func cancelled(_ host: KeychainHost) async throws {
        try await withKeychain(host) { test in
            try test.setPasscode("1234")
            let bank = Self.keychain.protected(by: .init(.whenUnlocked, consent: .passcode))
            try await bank.set("4711", for: "pin")
            test.prompter.answer(.late("1234"))
            let reading = Task { try await bank.string(for: "pin") }
            while test.prompter.questions.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            reading.cancel()
            let error = await #expect(throws: KeychainError.self) { _ = try await reading.value }
            #expect(error?.code == .taskCancelled)
            test.prompter.answer(.text("1234"))
            #expect(try await bank.string(for: "pin") == "4711")
        }
    }

    @Test("A call that is cancelled before it begins does nothing")
    func cancelledBefore() async throws {
        try await withKeychain { _ in
            let keychain = Self.keychain
            let writing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await keychain.set("x", for: "k")
            }
            let error = await #expect(throws: KeychainError.self) { try await writing.value }
            #expect(error?.code == .taskCancelled)
            let isThere = try await keychain.contains("k")
            #expect(!isThere)
        }
    }

    @Test("Every call has a form for tasks")
    func tasks() async throws {
        try await withKeychain { _ in
            let keychain = Self.keychain
            try await keychain.add("a", for: "k")
            try await keychain.update("b", for: "k")
            #expect(try await keychain.string(for: "k") == "b")
            #expect(try await keychain.data(for: "k") == Data("b".utf8))
            #expect(try await keychain.withSecret(for: "k") { $0.count } == 1)
            let secret = try await keychain.secret(for: "k")
            let count = secret?.count
            #expect(count == 1)
            try await keychain.set(Secret(copying: Data("c".utf8)), for: "k")
            #expect(try await keychain.contains("k"))
            #expect(try await keychain.compareAndSwap("k", from: "c", to: "d"))
            try await keychain.transaction { try $0.set(1, for: "l") }
            #expect(try await keychain.keys().sorted() == ["k", "l"])
            #expect(try await keychain.count() == 2)
            #expect(try await Keychain(service: "new").migrate(from: keychain) == 2)
            #expect(try await !keychain.remove("k"))
            #expect(try await Keychain(service: "new").removeAll() == 2)
        }
    }
}

/// An engine that is not there any more from some moment on.
private final class AwayHandler: RequestHandler {
    private let engine: any RequestHandler
    private let state = Mutex((isAway: false, looks: 0))

    init(_ engine: any RequestHandler) { self.engine = engine }

    /// How often it was asked in vain.
    var looks: Int { state.withLock { $0.looks } }

    func leave() { state.withLock { $0.isAway = true } }

    private func requireThere() throws(KeychainError) {
        let isAway = state.withLock { state in
            if state.isAway { state.looks += 1 }
            return state.isAway
        }
        if isAway { throw KeychainError(.notAvailable, message: "away") }
    }

    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        try requireThere()
        return try engine.handle(request, from: caller)
    }

    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        try requireThere()
        return try engine.waitForLockChange(since: epoch, timeout: timeout)
    }

    func verifyBiometry(
        for caller: Caller, _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket {
        try engine.verifyBiometry(for: caller, cancellation, hint: hint)
    }

    func listenForLocks() throws(KeychainError) -> any LockListener {
        try requireThere()
        return try engine.listenForLocks()
    }

    func listenForChanges(as caller: Caller) throws(KeychainError) -> any ChangeListener {
        try requireThere()
        return try engine.listenForChanges(as: caller)
    }

    func prepareForExit() {}
}

extension Keychain {
    /// Runs `body` as another program would, while a closure of this thread decides: on a thread of its own.
    func elsewhere(_ body: @escaping @Sendable (Keychain) throws -> Void) throws {
        let keychain = connected(.current)
        let isDone = DispatchSemaphore(value: 0)
        let failure = Failure()
        let thread = Thread {
            do { try body(keychain) } catch { failure.error.withLock { $0 = error } }
            isDone.signal()
        }
        thread.start()
        isDone.wait()
        if let error = failure.error.withLock({ $0 }) { throw error }
    }

    private final class Failure: Sendable { let error = Mutex<(any Error)?>(nil) }
}
