import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

/// Each object has a connection of its own and stands for a program.
@Suite("Tokens that several programs share") struct SharedTokensTests {
    private static let lease = Duration.seconds(10)
    private static let keychain = Keychain(service: "service")

    /// - Parameter whenWaiting: Called before each look at another program's lease.
    private func program(
        _ test: TestKeychain, _ keychain: Keychain = keychain, lease: Duration = lease,
        whenRenewing: (@Sendable () async -> Void)? = nil, whenWaiting: @escaping @Sendable () -> Void = {}
    ) -> TokenStore {
        let connection = Connection(engine: test.handler, caller: Caller(groups: ["G1"]))
        return TokenStore(keychain.connected(connection), lease: lease, now: { TokenStoreTests.now }) { time in
            if time == lease / 3 {
                if let whenRenewing { await whenRenewing() } else { try await Task.sleep(for: time) }
            } else {
                whenWaiting()
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test("No session is lost, however many programs refresh at once and are killed", arguments: KeychainHost.carriers)
    func manyPrograms(_ host: KeychainHost) async throws {
        var random = SeededGenerator()
        let (seed, count) = (random.seed, 2 + random.below(5))
        let mostRefreshes = Effort.count(250, full: 10_000)
        let server = TokenServer(expires: TokenStoreTests.past)
        try await withKeychain(host) { (test: TestKeychain) in
            let time = TimeAfterKills(test.clock)
            try await program(test).save(server.signIn())
            let killed = try await withThrowingTaskGroup(of: [Killed].self) { group in
                for number in 0..<count {
                    group.addTask {
                        try await life(
                            of: { program(test, whenWaiting: time.pass) }, server, until: mostRefreshes, time,
                            seed: seed &+ UInt64(number))
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(server.rejections == 0, "seed \(seed)")
            #expect(try await program(test).tokens() == server.present, "seed \(seed)")
            for program in killed { try await program.end() }
        }
    }

    /// One program after the other, each of which refreshes until it is killed: the killed ones.
    private func life(
        of program: @Sendable () -> TokenStore, _ server: TokenServer, until mostRefreshes: Int, _ time: TimeAfterKills,
        seed: UInt64
    ) async throws -> [Killed] {
        var (random, store, killed) = (SeededGenerator(seed: seed), program(), [Killed]())
        while server.refreshes < mostRefreshes {
            if random.below(20) == 0 {
                killed.append(await Killed(store, time))
                store = program()
            } else {
                let delays = (random.below(4), random.below(4))
                let token = try await store.accessToken(validFor: .zero, refresh: server.usual(store, delays))
                #expect(token != nil, "seed \(seed)")
            }
        }
        return killed
    }

    @Test(
        "A slow program's tokens are stored though another was rejected, but not after a sign-out or sign-in",
        arguments: KeychainHost.carriers, [nil, "out", "in"])
    func lateWinner(_ host: KeychainHost, _ sign: String?) async throws {
        try await withKeychain(host) { (test: TestKeychain) in
            let (server, gate) = (TokenServer(), Gate())
            let (first, second) = (program(test), program(test))
            try await first.save(server.signIn())
            let late = Task {
                defer { gate.reach() }
                return try await first.accessToken { old in
                    let new = try server.refresh(old)
                    await gate.stop()
                    return new
                }
            }
            await gate.untilReached()
            test.clock.advance(by: 10)
            #expect(try await second.accessToken(refresh: server.usual(second)) == nil)
            #expect(server.rejections == 1)
            if sign == "out" { #expect(try await !program(test).remove()) }
            if sign == "in" { try await second.save(TokenStoreTests.tokens(9)) }
            gate.open()
            let expected = sign == nil ? server.present : sign == "in" ? TokenStoreTests.tokens(9) : nil
            #expect(try await late.value == expected?.accessToken)
            #expect(try await first.tokens() == expected)
        }
    }

    @Test("A rejection removes no tokens that another program has stored meanwhile", arguments: KeychainHost.carriers)
    func lateLoser(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (test: TestKeychain) in
            let (server, gate) = (TokenServer(), Gate())
            let (first, second) = (program(test), program(test))
            try await first.save(server.signIn())
            let late = Task {
                defer { gate.reach() }
                return try await first.accessToken { old in
                    await gate.stop()
                    return try await server.usual(first)(old)
                }
            }
            await gate.untilReached()
            test.clock.advance(by: 10)
            #expect(try await second.accessToken(refresh: server.usual(second)) == server.present.accessToken)
            gate.open()
            #expect(try await late.value == server.present.accessToken)
            #expect(server.rejections == 1)
            #expect(try await first.tokens() == server.present)
        }
    }

    @Test("After a sign-out by another program nothing comes back", arguments: KeychainHost.carriers)
    func signOut(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (test: TestKeychain) in
            let (server, first, second) = (TokenServer(), program(test), program(test))
            try await first.save(server.signIn())
            let token = try await first.accessToken { old in
                #expect(try await second.remove())
                return try server.refresh(old)
            }
            #expect(token == nil)
            #expect(try await second.tokens() == nil)
        }
    }

    @Test("A caller that is cancelled ends at once, and its refresh goes on for the others", .timeLimit(.minutes(2)))
    func cancelledCaller() async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, gate, store) = (TokenServer(), Gate(), program(test))
            try await store.save(server.signIn())
            let caller = Task {
                try await store.accessToken { old in
                    await gate.stop()
                    return try server.refresh(old)
                }
            }
            await gate.untilReached()
            let other = Task { try await store.accessToken(refresh: server.usual(store)) }
            caller.cancel()
            let error = await #expect(throws: KeychainError.self) { try await caller.value }
            #expect(error?.code == .taskCancelled)
            gate.open()
            #expect(try await other.value == server.present.accessToken)
            #expect(server.refreshes == 1 && server.rejections == 0)
            #expect(try await store.tokens() == server.present)
        }
    }

    @Test("A sign-out by what a refresh has left behind is one")
    func leftBehind() async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, gate, store) = (TokenServer(), Gate(), program(test))
            let left = Mutex<Task<Bool, any Error>?>(nil)
            try await store.save(server.signIn())
            let token = try await store.accessToken { old in
                left.withLock {
                    $0 = Task {
                        await gate.stop()
                        return try await store.remove()
                    }
                }
                return try server.refresh(old)
            }
            #expect(token == server.present.accessToken)
            gate.open()
            #expect(try await left.withLock { $0 }?.value == true)
            #expect(try await store.tokens() == nil)
        }
    }

    @Test("A program that is killed delays the others by the length of its lease", arguments: KeychainHost.carriers)
    func killedHolder(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (test: TestKeychain) in
            let server = TokenServer()
            let clock = test.clock
            let other = program(test, whenWaiting: { clock.advance(by: 1) })
            try await other.save(server.signIn())
            let renewal = Gate()
            let killed = await Killed(program(test, whenRenewing: renewal.stop))
            let before = clock.now
            #expect(try await other.accessToken(refresh: server.usual(other)) == server.present.accessToken)
            #expect(clock.now - before == 10)
            try await killed.end()
        }
    }

    @Test("A clock that is set back does not keep a lease whose holder was killed for ever")
    func clockSetBack() async throws {
        try await withKeychain { (test: TestKeychain) in
            let lease = Duration.milliseconds(60)
            let (server, other) = (TokenServer(), program(test, lease: lease))
            try await other.save(server.signIn())
            let renewal = Gate()
            let killed = await Killed(program(test, lease: lease, whenRenewing: renewal.stop))
            test.clock.setBack(by: 3_600)
            #expect(try await other.accessToken(refresh: server.usual(other)) == server.present.accessToken)
            try await killed.end()
        }
    }

    @Test("Bytes in the place of a lease, which no holder gives back, do not keep tokens from being refreshed")
    func foreignLease() async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, store) = (TokenServer(), program(test, lease: .milliseconds(60)))
            try await store.save(server.signIn())
            try await Keychain(service: "service.refresh").set(Data([0xff, 0xfe]), for: "tokens")
            #expect(try await store.accessToken(refresh: server.usual(store)) == server.present.accessToken)
        }
    }

    @Test("A clock that is behind what the keychain saw expire keeps no tokens from being refreshed or rejected")
    func clockBehind() async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, store) = (TokenServer(), program(test))
            try await Self.keychain.set("x", for: "brief", expires: .after(.seconds(1)))
            test.clock.advance(by: 2)
            #expect(try await Self.keychain.string(for: "brief") == nil)
            // By more than a rejection is kept.
            test.clock.setBack(by: 7_200)
            await #expect(throws: KeychainError(.parameter)) {
                try await Self.keychain.set("x", for: "brief", expires: .after(.seconds(1)))
            }
            let first = server.signIn()
            try await store.save(first)
            #expect(try await store.accessToken(refresh: server.usual(store)) == server.present.accessToken)
            try await store.save(first)
            #expect(try await store.accessToken(refresh: server.usual(store)) == nil)
            #expect(server.rejections == 1)
            #expect(try await store.tokens() == nil)
        }
    }

    @Test("Tokens that a lock kept from being stored survive a rejection of another program, and no sign-out")
    func lockedAnswer() async throws {
        for isSignedOut in [false, true] {
            try await withKeychain { (test: TestKeychain) in
                try test.setPasscode("1234")
                let (server, first, second) = (TokenServer(), program(test), program(test))
                try await first.save(server.signIn())
                await #expect(throws: KeychainError(.interactionNotAllowed)) {
                    try await first.accessToken { old in
                        let new = try server.refresh(old)
                        try test.lock(.now)
                        return new
                    }
                }
                try test.unlock("1234")
                #expect(try await second.accessToken(refresh: server.usual(second)) == nil)
                #expect(server.rejections == 1)
                if isSignedOut { try await second.remove() }
                let token = isSignedOut ? nil : server.present.accessToken
                #expect(try await first.accessToken(refresh: server.usual(first)) == token)
                #expect(try await second.tokens() == (isSignedOut ? nil : server.present))
            }
        }
    }

    @Test("The closure of a refresh that asks for a token itself is told so at once")
    func withinItself() async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, store) = (TokenServer(), program(test))
            try await store.save(server.signIn())
            let token = try await store.accessToken { old in
                await #expect(throws: KeychainError(.parameter)) {
                    try await store.accessToken { _ in try server.refresh(old) }
                }
                return try server.refresh(old)
            }
            #expect(token == server.present.accessToken)
        }
    }

    @Test("A program that waits for a slow server keeps its lease", arguments: KeychainHost.carriers)
    func slowServer(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (test: TestKeychain) in
            let (server, renewal) = (TokenServer(), Gate())
            let store = program(test, whenRenewing: renewal.stop)
            @Sendable func leaseEnd() throws -> Date? {
                let leases = try KeychainItems().find(Keychain.GenericPassword.self) { $0.service = "service.refresh" }
                return leases.first?.expires
            }
            try await store.save(server.signIn())
            let token = try await store.accessToken { old in
                await renewal.untilReached()
                let before = try #require(try leaseEnd())
                test.clock.advance(by: 5)
                renewal.open()
                await renewal.untilReached()  // a second time
                #expect(try leaseEnd() == before + 5)
                return try server.refresh(old)
            }
            #expect(token == server.present.accessToken)
            #expect(try leaseEnd() == nil)
        }
    }

    @Test(
        "A refresh leaves no trace among the keys",
        arguments: [keychain, Keychain(server: .init(URL(string: "https://example.com/a")!)!)])
    func keys(_ keychain: Keychain) async throws {
        try await withKeychain { (test: TestKeychain) in
            let (server, store) = (TokenServer(), program(test, keychain))
            try await store.save(server.signIn())
            let token = try await store.accessToken { old in
                #expect(try await keychain.keys() == ["tokens"])
                return try server.refresh(old)
            }
            #expect(token == server.present.accessToken)
            #expect(try await keychain.keys() == ["tokens"])
        }
    }
}

/// Takes each refresh token once.
private final class TokenServer: Sendable {
    struct Rejected: Error {}

    private let expires: Date?
    private let state = Mutex((number: 1, rejections: 0))

    init(expires: Date? = nil) { self.expires = expires }

    var refreshes: Int { state.withLock { $0.number - 1 } }
    var rejections: Int { state.withLock { $0.rejections } }
    /// What it gave last.
    var present: TokenStore.Tokens { TokenStoreTests.tokens(state.withLock { $0.number }, expires: expires) }

    /// Tokens that have expired.
    func signIn() -> TokenStore.Tokens { TokenStoreTests.tokens(1, expires: TokenStoreTests.past) }

    func refresh(_ old: TokenStore.Tokens) throws -> TokenStore.Tokens {
        try state.withLock { state in
            guard old.refreshToken == "refresh \(state.number)" else {
                state.rejections += 1
                throw Rejected()
            }
            state.number += 1
        }
        return present
    }

    /// What programs do: a refresh token that is rejected means a sign-out.
    func usual(
        _ store: TokenStore, _ delays: (before: Int, after: Int) = (0, 0)
    ) -> @Sendable (TokenStore.Tokens) async throws -> TokenStore.Tokens {
        { [self] old in
            for _ in 0..<delays.before { await Task.yield() }
            do {
                let new = try refresh(old)
                for _ in 0..<delays.after { await Task.yield() }
                return new
            } catch {
                try await store.remove()
                throw error
            }
        }
    }
}

/// A point that one task stops at until it is opened.
private final class Gate: Sendable {
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let opening = AsyncStream.makeStream(of: Void.self)

    func reach() { arrivals.continuation.yield() }
    func untilReached() async { for await _ in arrivals.stream { return } }
    func open() { opening.continuation.finish() }

    func stop() async {
        reach()
        for await _ in opening.stream {}
    }
}

/// Lets a lease run out once for each program that was killed: nobody else has one then.
private final class TimeAfterKills: Sendable {
    private let clock: TestClock
    private let hasKilled = Mutex(false)

    init(_ clock: TestClock) { self.clock = clock }

    func kill() { hasKilled.withLock { $0 = true } }

    @Sendable func pass() {
        hasKilled.withLock { hasKilled in
            if hasKilled { clock.advance(by: 10) }
            hasKilled = false
        }
    }
}

/// A program that does nothing any more as soon as it has the lease, unless another one was faster.
private final class Killed: Sendable {
    private struct End: Error {}
    private let gate = Gate()
    private let call: Task<String?, any Error>

    init(_ store: TokenStore, _ time: TimeAfterKills? = nil) async {
        call = Task { [gate] in
            defer { gate.reach() }
            return try await store.accessToken(validFor: .zero) { _ in
                time?.kill()
                await gate.stop()
                throw End()
            }
        }
        await gate.untilReached()
    }

    /// Lets its tasks end.
    func end() async throws {
        gate.open()
        do { _ = try await call.value } catch is End {}
    }
}
