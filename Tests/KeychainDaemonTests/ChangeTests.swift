import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

@testable import KeychainDaemon

@Suite struct ChangeTests {
    @Test("A subscriber is told of the lock first, and then of every change in its groups")
    func events() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            let client = try server.connect(groups: ["A"])
            try client.subscribe()
            #expect(try client.nextChange() == .lock(.unlocked(epoch: 1)))
            engine.tell(.items(.key, accessGroup: "B"), .items(.key, accessGroup: "A"))
            #expect(try client.nextChange() == .items(.key, accessGroup: "A"))
            engine.tell(.lock(.unlocked(epoch: 2)))
            #expect(try client.nextChange() == .lock(.unlocked(epoch: 2)))
        }
    }

    @Test("Nothing that happens after the first event is missed")
    func gap() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            for _ in 0..<50 {
                let client = try server.connect(groups: ["A"])
                try client.subscribe()
                _ = try client.nextChange()
                engine.tell(.items(.certificate, accessGroup: "A"))
                #expect(try client.nextChange() == .items(.certificate, accessGroup: "A"))
            }
        }
    }

    @Test("A subscriber that says something is cut off")
    func talking() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try server.connect()
            try client.subscribe()
            _ = try client.nextChange()
            try client.begin(.status)
            #expect(try client.goodbye().reason == .malformed)
        }
    }

    @Test("A subscriber that does not read is cut off, and the others are told")
    func deaf() throws {
        let engine = FakeEngine()
        var limits = Limits()
        limits.sendTime = .milliseconds(100)
        try withServer(engine, limits: limits) { server throws in
            let deaf = try server.connect(groups: ["A"])
            try deaf.subscribe()
            let name = String(repeating: "long", count: 50_000)
            let good = try server.connect(groups: [name])
            try good.subscribe()
            let deafToo = try server.connect(groups: [name])
            try deafToo.subscribe()
            _ = try good.nextChange()
            _ = try deafToo.nextChange()
            for _ in 0..<10 {
                engine.tell(.items(.key, accessGroup: name))
                #expect(try good.nextChange() == .items(.key, accessGroup: name))
            }
            #expect(server.hasLogged("does not read its answers"))
            #expect(try server.serves())
        }
    }

    @Test("Subscribers are told of the daemon's end")
    func end() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try server.connect()
            try client.subscribe()
            _ = try client.nextChange()
            server.server.stop()
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .shuttingDown)
            #expect(goodbye.lastRequest == 1)
        }
    }

    @Test("A subscriber that goes away is forgotten")
    func gone() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            for _ in 0..<20 {
                let client = try server.connect()
                try client.subscribe()
                _ = try client.nextChange()
            }
            engine.tell(.lock(.unlocked(epoch: 2)))
            #expect(server.server.stop())
            #expect(server.store.subscribers.count == 0)
        }
    }

    @Test("Locks wait for subscribers that want it, from before their first event until they close")
    func delayingLocks() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            let indifferent = try server.connect()
            try indifferent.subscribe()
            _ = try indifferent.nextChange()
            #expect(engine.listenerCount.value == 0)
            do {
                let client = try server.connect()
                try client.subscribe(delaysLocks: true)
                _ = try client.nextChange()
                #expect(engine.listenerCount.value == 1)
                engine.tell(.lock(.unlocked(epoch: 2)))
                #expect(try client.nextChange() == .lock(.unlocked(epoch: 2)))
                #expect(engine.listenerCount.value == 1)
            }
            #expect(engine.listenerCount.wait { $0 == 0 })
            let talking = try server.connect()
            try talking.subscribe(delaysLocks: true)
            _ = try talking.nextChange()
            try talking.begin(.status)
            #expect(try talking.goodbye().reason == .malformed)
            #expect(engine.listenerCount.wait { $0 == 0 })
        }
    }

    @Test("While a lock for want of use is announced the housekeeper goes on, and locks when it is due")
    func notice() throws {
        try withTemporaryDirectory { directory in
            let clock = TestClock()
            var configuration = EngineConfiguration.test(in: directory, clock: clock)
            configuration.host = .user
            let engine = try Engine(configuration)
            try engine.setPasscode("1234")
            let policy = PasscodePolicy(idleLimit: 600)
            _ = try engine.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: .owner)
            try withServer(engine) { server throws in
                let listener = try server.connect()
                try listener.subscribe(delaysLocks: true)
                #expect(try listener.nextChange().lockStatus?.isLocking == false)
                clock.advance(by: 598)
                // Something has to wake the housekeeper, which waits by the system's clock.
                try engine.add("a")
                #expect(try listener.nextLock().isLocking)
                let other = try server.connect(groups: ["G"])
                try other.subscribe()
                _ = try other.nextChange()
                try engine.add("b")
                #expect(try other.nextChange() == .items(.genericPassword, accessGroup: "G"))
                clock.advance(by: 3)
                try engine.add("c")
                #expect(try other.nextLock().state == .locked)
            }
        }
    }

    @Test(
        "Items that have expired are told of, whether a removal or another write takes them", arguments: [true, false])
    func expired(bySweep: Bool) throws {
        try withTemporaryDirectory { directory in
            let clock = TestClock()
            var configuration = EngineConfiguration.test(in: directory, clock: clock)
            configuration.host = .user
            let engine = try Engine(configuration)
            try withServer(engine) { server throws in
                let listener = try server.connect(groups: ["G"])
                try listener.subscribe()
                _ = try listener.nextChange()
                var request = AddRequest(.genericPassword)
                request.attributes = [.account: .text("a")]
                request.expires = .after(1_000)
                _ = try engine.handle(.add(request), from: Caller(groups: ["G"]))
                #expect(try listener.nextChange() == .items(.genericPassword, accessGroup: "G"))
                clock.advance(by: 1)
                if bySweep {
                    _ = try engine.handle(.removeExpired, from: .owner)
                } else {
                    request.expires = nil
                    _ = try engine.handle(.add(request), from: Caller(groups: ["other"]))
                }
                var told: Set<StoreChange> = []
                while !told.contains(.items(.genericPassword, accessGroup: "G")) {
                    told.insert(try listener.nextChange())
                }
            }
        }
    }

    @Test("The housekeeper looks when something is due, and not before")
    func housekeeping() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            #expect(try server.serves())
            #expect(engine.waitForLockChecks(1))
            usleep(30_000)
            #expect(engine.lockCheckCount == 1, "nothing is due, so nobody looks")
            engine.set(due: .milliseconds(10))
            engine.tell(.lock(.unlocked(epoch: 2)))
            #expect(engine.waitForLockChecks(5))
            engine.set(due: nil)
        }
    }

    @Test("Expired items that cannot be removed keep the housekeeper from nothing else")
    func failedRemoval() throws {
        let engine = FakeEngine()
        engine.failRemoval(with: KeychainError(.readOnly, message: "the disk is read-only"))
        try withServer(engine) { server throws in
            #expect(try server.serves())
            #expect(engine.waitForLockChecks(1))
            engine.set(due: .milliseconds(10))
            engine.tell(.lock(.unlocked(epoch: 2)))
            #expect(engine.waitForLockChecks(5))
            engine.set(due: nil)
            // After a failure of its own it would wait for seconds and begin anew.
            #expect(engine.positionCount == 1)
        }
    }

    @Test("The housekeeper looks when the next item expires")
    func expiry() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            #expect(try server.serves())
            #expect(engine.waitForLockChecks(1))
            engine.set(nextExpiry: .milliseconds(10))
            engine.set(due: .seconds(3_600))
            engine.tell(.lock(.unlocked(epoch: 2)))
            #expect(engine.waitForLockChecks(5))
            engine.set(nextExpiry: nil)
        }
    }
}

extension StoreChange {
    fileprivate var lockStatus: LockStatus? { if case .lock(let status) = self { status } else { nil } }
}

extension TestClient {
    /// The next event of the lock.
    fileprivate func nextLock() throws -> LockStatus {
        while true {
            if let status = try nextChange().lockStatus { return status }
        }
    }
}

extension Engine {
    /// Adds an item, a change of which subscribers are told.
    ///
    /// One that needs no unlocking: adding it is no use of the keys that a lock takes.
    fileprivate func add(_ account: String) throws {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account)]
        request.accessControl = AccessControl(.always)
        request.secret = SecretBytes(copying: Data("secret".utf8))
        _ = try handle(.add(request), from: Caller(groups: ["G"]))
    }
}
