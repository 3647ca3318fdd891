import Foundation
import KeychainModel
import KeychainWire
import Testing

@testable import KeychainDaemon

@Suite struct EndTests {
    @Test("A request in progress is answered before the goodbye, and what came after it was never seen")
    func inProgress() throws {
        let gate = Gate()
        let engine = FakeEngine { _, _ throws(KeychainError) in
            gate.wait()
            return .done
        }
        try withServer(engine) { server throws in
            let client = try server.connect()
            let first = try client.begin(.find)
            gate.awaitArrival()
            try client.begin(.find)
            try client.begin(.find)
            Thread.detachNewThread { server.server.stop() }
            #expect(server.hasLogged("ends"))
            gate.open()
            guard case .done = try client.answer(to: first) else {
                Issue.record("another answer")
                return
            }
            #expect(try client.goodbye() == DaemonGoodbye(.shuttingDown, "keychaind ends", lastRequest: first))
        }
    }

    @Test("Idle connections are told why they end, and how far they came")
    func idle() throws {
        try withServer(FakeEngine()) { server throws in
            let idle = try server.connect()
            let used = try server.connect()
            for _ in 0..<3 { try used.ask(.rekeyStep) }
            let silent = try TestClient(server.path)
            // Connections are accepted in their order.
            #expect(try server.serves())
            #expect(server.server.stop(DaemonGoodbye(.storeGivenUp, "it is yours")))
            #expect(try idle.goodbye() == DaemonGoodbye(.storeGivenUp, "it is yours"))
            #expect(try used.goodbye() == DaemonGoodbye(.storeGivenUp, "it is yours", lastRequest: 3))
            #expect(try silent.goodbye().reason == .storeGivenUp)
        }
    }

    @Test("A request that does not end keeps nobody waiting for ever")
    func hanging() throws {
        let gate = Gate()
        let engine = FakeEngine { _, _ throws(KeychainError) in
            gate.wait()
            return .done
        }
        var limits = Limits()
        limits.stopTime = .milliseconds(50)
        try withServer(engine, limits: limits) { server throws in
            let client = try server.connect()
            try client.begin(.find)
            gate.awaitArrival()
            #expect(!server.server.stop())
            #expect(throws: TestClient.Closed.self) { try client.receive() }
            gate.open()
        }
    }

    @Test("A daemon that nobody uses asks for its end, unless that would lock something")
    func unused() throws {
        var limits = Limits()
        limits.idleTime = .milliseconds(20)
        let open = FakeEngine()
        try withServer(open, limits: limits, opensFirst: true) { server throws in
            #expect(try server.serves())
            usleep(100_000)
            #expect(server.ends.value.isEmpty, "its store is unlocked")
        }
        try withServer(limits: limits, openEngine: { () throws(KeychainError) in throw .lost }) { server throws in
            #expect(server.ends.wait { $0.first?.reason == .shuttingDown })
        }
    }
}

extension KeychainError {
    static let lost = KeychainError(.notAvailable, message: "the disk is gone")
}
