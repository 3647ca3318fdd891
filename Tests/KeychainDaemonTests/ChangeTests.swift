import Foundation
import KeychainModel
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
}
