import Foundation
import KeychainModel
import KeychainWire
import Testing

@testable import KeychainDaemon

@Suite struct GreetingTests {
    @Test("A hello is answered with who the daemon is")
    func welcome() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try TestClient(server.path)
            try client.send(.hello(ClientHello(groups: ["G"], authority: .groups)))
            guard case .welcome(let welcome) = try client.receive() else {
                Issue.record("another answer")
                return
            }
            #expect(welcome.version == 1)
            #expect(welcome.processID == getpid())
            #expect(welcome.release == "test")
        }
    }

    @Test("Groups and authority of the hello are the caller's, and the kernel's evidence is with them")
    func caller() throws {
        let callers = Observed<[String]>([])
        let engine = FakeEngine { _, caller throws(KeychainError) in
            callers.update { $0.append("\(caller.groups) \(caller.authority)") }
            let evidence = caller.evidence
            let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            callers.update { $0.append("exe \(evidence?.executable == own)") }
            callers.update {
                $0.append(
                    "ids \(evidence?.pid == getpid()) \(evidence?.uid == geteuid()) \(evidence?.gid == getegid())")
            }
            return .done
        }
        try withServer(engine) { server throws in
            let client = try server.connect(groups: ["A", "é"], authority: .owner)
            try client.ask(.rekeyStep)
            #expect(callers.value == ["[\"A\", \"é\"] owner", "exe true", "ids true true true"])
        }
    }

    @Test("Another version of the protocol is told which one there is")
    func version() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try TestClient(server.path)
            try client.send(.hello(ClientHello(version: 2, groups: [], authority: .groups)))
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .unsupportedVersion)
            #expect(goodbye.message.contains("version 1"))
            #expect(try server.serves())
        }
    }

    @Test("A request before the hello, and a second hello, end the connection")
    func order() throws {
        try withServer(FakeEngine()) { server throws in
            let hasty = try TestClient(server.path)
            try hasty.begin(.status)
            #expect(try hasty.goodbye().reason == .malformed)
            let repeating = try server.connect()
            try repeating.send(.hello(ClientHello(groups: [], authority: .owner)))
            #expect(try repeating.goodbye().reason == .malformed)
            #expect(try server.serves())
        }
    }

    @Test("A hello of one byte more than it may have ends the connection", arguments: [0, 1])
    func length(excess: Int) throws {
        let hello = ClientMessage.hello(ClientHello(groups: [String(repeating: "G", count: 100)], authority: .groups))
        var limits = Limits()
        limits.helloBytes = try hello.frame().message.count - excess
        try withServer(FakeEngine(), limits: limits) { server throws in
            let client = try TestClient(server.path)
            try client.send(hello)
            switch try client.receive() {
            case .welcome: #expect(excess == 0)
            case .goodbye(let goodbye): #expect(excess == 1 && goodbye.reason == .malformed)
            case let other: Issue.record("another answer: \(other)")
            }
        }
    }

    @Test("Who says nothing is cut off")
    func silence() throws {
        var limits = Limits()
        limits.helloTime = .milliseconds(50)
        try withServer(FakeEngine(), limits: limits) { server throws in
            #expect(try TestClient(server.path).goodbye().reason == .tooSlow)
        }
    }

    @Test("A store that cannot be opened is named to every client, until it can be")
    func noStore() throws {
        let isMended = Gate()
        let engine = FakeEngine()
        let openEngine = { @Sendable () throws(KeychainError) -> any ChangeSource in
            guard isMended.isOpen else { throw KeychainError(.notAvailable, message: "the disk is gone") }
            return engine
        }
        try withServer(openEngine: openEngine) { server throws in
            for _ in 1...2 {
                let client = try TestClient(server.path)
                try client.send(.hello(ClientHello(groups: [], authority: .groups)))
                #expect(try client.goodbye() == DaemonGoodbye(.noStore, "the disk is gone"))
            }
            #expect(server.log.value.count { $0.contains("the disk is gone") } == 1, "logged once")
            isMended.open()
            #expect(try server.serves())
        }
    }
}
