import Foundation
import KeychainModel
import Synchronization
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// What a watch that is told before a lock makes of it.
@Suite struct LockNoticeTests {
    private func events(of engine: FakeEngine) -> AsyncStream<LockEvent>.Iterator {
        LockNotice.$patience.withValue(.seconds(3600)) {
            Connection(engine: engine, caller: Caller(groups: ["G"])).lockEvents.makeAsyncIterator()
        }
    }

    private func announce(_ engine: FakeEngine) {
        engine.change {
            $0.isLocking = true
            $0.epoch += 1
        }
    }

    private func isNotice(_ event: LockEvent?) -> Bool { if case .willLock? = event { true } else { false } }
    private func isLocked(_ event: LockEvent?) -> Bool { if case .didLock? = event { true } else { false } }
    private func isUnlocked(_ event: LockEvent?) -> Bool { if case .didUnlock? = event { true } else { false } }

    @Test("It listens from its first moment until the notice is given back, and again when the lock has come")
    func listens() async throws {
        let engine = FakeEngine()
        var events = events(of: engine)
        #expect(engine.waitForListeners(1))
        announce(engine)
        var event = await events.next()
        #expect(isNotice(event))
        try waitUntilFollowersRest()
        #expect(engine.listenerCount == 1, "nothing is given back yet")
        event = nil
        #expect(engine.waitForListeners(0))
        engine.change {
            $0.isLocking = false
            $0.state = .locked
            $0.epoch += 1
        }
        let next = await events.next()
        #expect(isLocked(next))
        #expect(engine.waitForListeners(1))
    }

    /// Waits until every thread that follows a lock waits for something, a minute at most.
    private func waitUntilFollowersRest() throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !doFollowersRest() {
            try #require(ContinuousClock.now < end)
            usleep(1_000)
        }
    }

    private func doFollowersRest() throws -> Bool {
        let tasks = "/proc/self/task"
        let isAtRest = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task -> Bool? in
            // A thread that has ended meanwhile has no files.
            func text(_ name: String) -> String {
                (try? String(contentsOfFile: "\(tasks)/\(task)/\(name)", encoding: .utf8)) ?? ""
            }
            guard text("comm") == "keychain lock\n", let state = text("stat").split(separator: ")").last else {
                return nil
            }
            return state.hasPrefix(" S")
        }
        return !isAtRest.isEmpty && !isAtRest.contains(false)
    }

    @Test("An announcement that is not followed by a lock is taken back")
    func lapses() async {
        let engine = FakeEngine()
        var events = events(of: engine)
        announce(engine)
        #expect(isNotice(await events.next()))
        // Nobody begins an epoch for that.
        engine.change { $0.isLocking = false }
        #expect(isUnlocked(await events.next()))
        #expect(engine.waitForListeners(1))
        announce(engine)
        #expect(isNotice(await events.next()))
    }

    @Test("A keychain that cannot be looked at is told as a lock, and what comes when it is back too")
    func failingKeychain() async {
        let engine = FakeEngine()
        var events = events(of: engine)
        engine.fail(with: KeychainError(.notAvailable, message: "gone"))
        #expect(isLocked(await events.next()))
        #expect(engine.waitForListeners(0))
        engine.recover()
        #expect(isUnlocked(await events.next()))
        announce(engine)
        #expect(isNotice(await events.next()))
    }

    @Test("What was announced before it began is told at once")
    func alreadyAnnounced() async {
        let engine = FakeEngine()
        announce(engine)
        var events = events(of: engine)
        #expect(isNotice(await events.next()))
        #expect(engine.waitForListeners(0))
    }

    @Test("While locked there is nothing to be told in time, and nobody is kept waiting")
    func lockedAlready() async {
        let engine = FakeEngine()
        engine.move(to: .locked)
        var events = events(of: engine)
        announce(engine)
        #expect(engine.waitForListeners(0))
        engine.change {
            $0.isLocking = false
            $0.state = .unlocked
            $0.epoch += 1
        }
        #expect(isUnlocked(await events.next()))
    }

    @Test("Where nobody can listen it tells of locks that have happened")
    func withoutListening() async {
        let engine = FakeEngine()
        engine.change { _ in engine.refusesListeners = true }
        var events = events(of: engine)
        engine.move(to: .locked)
        #expect(isLocked(await events.next()))
        engine.move(to: .unlocked)
        #expect(isUnlocked(await events.next()))
        // As soon as one can again, it does.
        engine.change { _ in engine.refusesListeners = false }
        #expect(engine.waitForListeners(1))
    }

    @Test("It ends with its last listener, and listens no more")
    func ends() {
        let engine = FakeEngine()
        do { _ = events(of: engine) }
        #expect(engine.waitForListeners(0))
    }
}
