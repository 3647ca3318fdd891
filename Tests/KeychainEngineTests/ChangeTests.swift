import Dispatch
import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What a daemon's engine tells of changes, and what it locks by itself.
@Suite struct ChangeTests {
    /// An engine as a daemon has it.
    private func withEngine(_ body: (Engine, TestClock) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let clock = TestClock()
            var configuration = EngineConfiguration.test(in: directory, clock: clock)
            configuration.host = .user
            try body(try Engine(configuration), clock)
        }
    }

    private func groups(_ changes: [StoreChange]) -> Set<String> {
        Set(
            changes.compactMap { change in
                if case .items(_, let group) = change { group } else { nil }
            })
    }

    /// The groups of what has changed since, as a caller sees it.
    private func changed(
        since position: inout ChangePosition, in engine: Engine, for caller: Caller
    ) throws -> Set<String> {
        let told = try engine.changes(after: position, for: caller)
        position = told.position
        return groups(told.changes)
    }

    @Test("Each kind of change is told once, with its group, and what only reads or fails is none")
    func kinds() throws {
        try withEngine { engine, _ throws in
            let both = Caller(groups: ["G", "H"])
            var position = try engine.position()
            #expect(try changed(since: &position, in: engine, for: both) == [])
            let item = try engine.add(.password("a"), as: both)
            #expect(try changed(since: &position, in: engine, for: both) == ["G"])
            #expect(try changed(since: &position, in: engine, for: both) == [])
            #expect(throws: KeychainError.self) { try engine.add(.password("a"), as: both) }
            _ = try engine.find(.password(), as: both)
            #expect(try changed(since: &position, in: engine, for: both) == [])
            var query = ItemQuery(.genericPassword)
            query.persistentReference = item.persistentReference
            query.accessGroup = "G"
            var changes = ItemChanges()
            changes.accessGroup = "H"
            _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: both)
            #expect(try changed(since: &position, in: engine, for: both) == ["G", "H"])
            query.accessGroup = "H"
            _ = try engine.handle(.delete(query), from: both)
            #expect(try changed(since: &position, in: engine, for: both) == ["H"])
        }
    }

    @Test("Nobody is told of groups that are not his, by whatever spelling; the owner is told of all")
    func ofOwnGroupsOnly() throws {
        try withEngine { engine, _ throws in
            let start = try engine.position()
            try engine.add(.password("a"), as: Caller(groups: ["\u{e9}"]))
            try engine.add(.password("b"), as: Caller(groups: ["H"]))
            let expectations: [(Caller, Set<String>)] = [
                (Caller(groups: ["H"]), ["H"]), (Caller(groups: ["e\u{301}"]), []), (Caller(groups: []), []),
                (.owner, ["\u{e9}", "H"]),
            ]
            for (caller, expected) in expectations {
                var position = start
                #expect(try changed(since: &position, in: engine, for: caller) == expected)
            }
        }
    }

    @Test("Of changes that may have been anywhere everybody is told in his groups, and the owner by an empty one")
    func anywhere() throws {
        try withEngine { engine, _ throws in
            var (own, position) = (try engine.position(), try engine.position())
            _ = try engine.handle(.importItems(ImportRequest([])), from: .owner)
            #expect(try changed(since: &own, in: engine, for: Caller(groups: ["G"])) == ["G"])
            #expect(try changed(since: &position, in: engine, for: .owner).contains(""))
        }
    }

    @Test("However many groups there are, every one that has changed is told of to whoever holds it")
    func manyGroups() throws {
        try withEngine { engine, _ throws in
            let feed = engine.changes
            let start = try engine.position()
            for number in 0..<10_000 { feed.note([.genericPassword], in: ["group \(number)"]) }
            for number in [0, 5_000, 9_999] {
                let told = try engine.changes(after: start, for: Caller(groups: ["group \(number)"])).changes
                #expect(groups(told) == ["group \(number)"])
            }
        }
    }

    @Test("Whoever waits is woken by a change of items, by a lock, and by the end of waiting")
    func waits() throws {
        try withEngine { engine, _ throws in
            try engine.setPasscode("1234")
            func wake(_ change: @escaping @Sendable () throws -> Void) throws -> (ChangePosition, ChangePosition) {
                let before = try engine.position()
                let thread = Thread { try? change() }
                thread.start()
                return (before, try engine.waitForChange(after: before, timeout: .seconds(60)))
            }
            let (beforeAdd, afterAdd) = try wake { try engine.add(.password("a")) }
            #expect(afterAdd.revision > beforeAdd.revision && afterAdd.epoch == beforeAdd.epoch)
            let (beforeLock, afterLock) = try wake { _ = try engine.handle(.lock(.now), from: .owner) }
            #expect(afterLock.epoch != beforeLock.epoch)
            guard case .lock(let status)? = try engine.changes(after: beforeLock, for: caller).changes.first else {
                Issue.record("nothing is told of the lock")
                return
            }
            #expect(status.state == .locked)
            let (beforeEnd, afterEnd) = try wake { engine.stopWaiting() }
            #expect(beforeEnd == afterEnd)
            // And the time that one waits at most.
            #expect(try engine.waitForChange(after: afterEnd, timeout: .zero) == afterEnd)
        }
    }

    @Test("A store is locked when it was not used for the idle limit, and the time until then is told")
    func idle() throws {
        try withEngine { engine, clock throws in
            #expect(try engine.lockIfDue() == nil)
            try engine.add(.password("a"))
            try engine.setPasscode("1234")
            #expect(try engine.lockIfDue() == nil)
            let policy = PasscodePolicy(idleLimit: 600)
            _ = try engine.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: .owner)
            clock.advance(by: 100)
            #expect(try engine.secret(of: "a") == "secret")
            clock.advance(by: 400)
            let left = try #require(try engine.lockIfDue())
            // Three seconds before, those who listen are told.
            #expect(left > .seconds(196) && left < .seconds(198))
            #expect(try engine.lockStatus().state == .unlocked)
            clock.advance(by: 201)
            #expect(try engine.lockIfDue() == nil)
            #expect(try engine.lockStatus().state == .locked)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try engine.lockStatus().state == .unlocked)
            #expect(try #require(try engine.lockIfDue()) > .seconds(596))
        }
    }

    @Test("A lock for want of use is told of also if somebody asked for the state just before")
    func idleAndAsked() throws {
        try withEngine { engine, clock throws in
            try engine.setPasscode("1234")
            let policy = PasscodePolicy(idleLimit: 600)
            _ = try engine.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: .owner)
            let epoch = try engine.lockStatus().epoch
            clock.advance(by: 601)
            #expect(try engine.lockStatus().state == .locked)
            for _ in 1...2 {
                // Files of the class for an inactive user close ten minutes after the lock, which was a second ago.
                let left = try #require(try engine.lockIfDue())
                #expect(left > .seconds(598) && left < .seconds(600))
                #expect(try engine.lockStatus().epoch == epoch + 1)
            }
        }
    }

    @Test("A watcher's lease that has run out locks the store, and one from before the unlock does not")
    func lease() throws {
        try withEngine { engine, clock throws in
            try engine.setPasscode("1234")
            _ = try engine.handle(.renewLease, from: .owner)
            clock.advance(by: 30)
            #expect(try #require(try engine.lockIfDue()) < .seconds(31))
            clock.advance(by: 31)
            _ = try engine.lockIfDue()
            #expect(try engine.lockStatus().state == .locked)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try engine.lockIfDue() == nil)
            #expect(try engine.lockStatus().state == .unlocked)
        }
    }

    @Test("A daemon that locks with the session itself says that it is watched")
    func watched() throws {
        try withEngine { engine, _ throws in
            #expect(try engine.lockStatus().isWatched == false)
            engine.setWatched(true)
            #expect(try engine.lockStatus().isWatched)
            engine.setWatched(false)
            #expect(try engine.lockStatus().isWatched == false)
        }
    }

    @Test("The keys of a daemon are nowhere but in it: nothing is in the kernel's keyring", .enabled(if: hasKeyring))
    func noKeyring() throws {
        try withEngine { engine, _ throws in
            try engine.setPasscode("1234")
            #expect(try engine.lockStatus().keyPlace == .daemon)
            for tier in KeyTier.allCases {
                let name = engine.keys.blobName(tier, bagGeneration: try engine.keys.begin().snapshot.bag.generation)
                #expect(KernelKeyring.ofUser?.find(name) == nil)
            }
        }
    }
}
