import Foundation
import Glibc
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Testing

@testable import KeychainDaemon

/// Signs of life: a client that waits for an answer is told that the daemon runs.
@Suite struct SignTests {
    private var limits: Limits {
        var limits = Limits()
        limits.signInterval = .milliseconds(5)
        return limits
    }

    private func client(_ server: TestServer, hearsSigns: Bool = true) throws -> TestClient {
        let client = try TestClient(server.path)
        try client.send(.hello(ClientHello(groups: ["G"], authority: .groups, hearsSigns: hearsSigns)))
        guard case .welcome(let welcome) = try client.receive(), welcome.givesSigns else { throw TestClient.Closed() }
        return client
    }

    private func expectSigns(_ id: UInt64, at client: TestClient) throws {
        for _ in 0..<3 {
            let message = try client.receive()
            guard case .working(id) = message else { throw TestClient.Unexpected(message: message) }
        }
    }

    /// Passes over signs, of this request alone.
    private func answer(_ id: UInt64, at client: TestClient) throws -> Reply {
        while true {
            switch try client.receive() {
            case .working(id): continue
            case .reply(id, let reply, true): return reply
            case let message: throw TestClient.Unexpected(message: message)
            }
        }
    }

    @Test("While a request is worked on its client is told so, and then comes the answer")
    func work() throws {
        let gates = [Gate(), Gate()]
        let rest = Observed(gates)
        let engine = FakeEngine { _, _ throws(KeychainError) in
            var gate: Gate?
            rest.update { gate = $0.removeFirst() }
            gate?.wait()
            return .done
        }
        try withServer(engine, limits: limits) { server throws in
            defer { for gate in gates { gate.open() } }
            let client = try client(server)
            for gate in gates {
                let id = try client.begin(.status)
                try expectSigns(id, at: client)
                gate.open()
                guard case .done = try answer(id, at: client) else { throw TestClient.Closed() }
            }
        }
    }

    @Test("A request that waits for its turn has signs of life too")
    func queue() throws {
        let gate = Gate()
        let engine = FakeEngine { _, _ throws(KeychainError) in
            gate.wait()
            return .done
        }
        try withServer(engine, limits: limits) { server throws in
            defer { gate.open() }
            let first = try client(server)
            _ = try first.begin(.unlock(.of("1234")))
            gate.awaitArrival()
            let second = try client(server)
            let id = try second.begin(.unlock(.of("1234")))
            try expectSigns(id, at: second)
            gate.open()
            guard case .done = try answer(id, at: second) else { throw TestClient.Closed() }
        }
    }

    @Test("A client that does not say that it understands signs of life is sent none")
    func oldClient() throws {
        let gate = Gate()
        let engine = FakeEngine { _, _ throws(KeychainError) in
            gate.wait()
            return .done
        }
        try withServer(engine, limits: limits) { server throws in
            defer { gate.open() }
            let old = try client(server, hearsSigns: false)
            let id = try old.begin(.status)
            gate.awaitArrival()
            let new = try client(server)
            // Between two signs of one client every client has had its turn.
            try expectSigns(try new.begin(.status), at: new)
            gate.open()
            guard case .done = try old.answer(to: id) else { throw TestClient.Closed() }
        }
    }

    @Test("Who waits at the reader has signs of life, between two hints too")
    func reader() throws {
        let gate = Gate()
        let hinted = Gate()
        let ticket = BiometryTicket(UUID())
        let engine = FakeEngine(biometry: { hint in
            gate.wait()
            hint(BiometryHint("touch it"))
            hinted.wait()
            return ticket
        })
        try withServer(engine, limits: limits) { server throws in
            defer {
                gate.open()
                hinted.open()
            }
            let client = try client(server)
            try client.send(.verifyBiometry(id: 1))
            try expectSigns(1, at: client)
            gate.open()
            var message = try client.receive()
            while case .working(1) = message { message = try client.receive() }
            guard case .biometryHint(1, _) = message else { throw TestClient.Unexpected(message: message) }
            try expectSigns(1, at: client)
            hinted.open()
            message = try client.receive()
            while case .working(1) = message { message = try client.receive() }
            guard case .biometry(1, .success(ticket)) = message else { throw TestClient.Unexpected(message: message) }
        }
    }

    @Test("A subscription is told of changes and of nothing else")
    func subscription() throws {
        let gate = Gate()
        let engine = FakeEngine { _, _ throws(KeychainError) in
            gate.wait()
            return .done
        }
        try withServer(engine, limits: limits) { server throws in
            defer { gate.open() }
            let subscriber = try client(server)
            try subscriber.subscribe()
            guard case .lock = try subscriber.nextChange() else { throw TestClient.Closed() }
            let other = try client(server)
            try expectSigns(try other.begin(.status), at: other)
            engine.tell(.items(.genericPassword, accessGroup: "G"))
            guard case .items = try subscriber.nextChange() else { throw TestClient.Closed() }
        }
    }

    // MARK: On one connection

    private func received(_ pair: SocketPair) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = recv(pair.client.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return Array(bytes.prefix(max(0, count)))
    }

    private var sign: [UInt8] { TestClient.bytes(of: DaemonMessage.working(id: 7).frame()) }

    @Test("A sign is given between a request and the first message of its answer, and at no other time")
    func place() throws {
        let pair = try SocketPair()
        let sender = FrameSender(pair.served, limit: .seconds(10))
        #expect(!sender.giveSign())
        #expect(received(pair) == [])
        sender.begin(7)
        #expect(sender.giveSign())
        #expect(received(pair) == sign)
        try sender.send(DaemonMessage.reply(id: 7, .found([]), isLast: false).frame())
        #expect(!sender.giveSign())
        #expect(received(pair) == TestClient.bytes(of: DaemonMessage.reply(id: 7, .found([]), isLast: false).frame()))
    }

    @Test("No sign comes within a frame")
    func whole() throws {
        let pair = try SocketPair()
        let sender = FrameSender(pair.served, limit: .seconds(10))
        sender.begin(7)
        let frame = DaemonMessage.failure(id: 7, KeychainError(.parameter, message: "why")).frame()
        var answers: [Bool] = []
        // As the other thread does at this moment.
        try sender.send(frame) { _ in answers.append(sender.giveSign()) }
        #expect(!answers.isEmpty)
        #expect(received(pair) == TestClient.bytes(of: frame))
    }

    @Test("Signs leave room for the answer at a client that takes nothing, and nobody waits for it")
    func unread() throws {
        let pair = try SocketPair()
        let sender = FrameSender(pair.served, limit: .milliseconds(1))
        sender.begin(7)
        for _ in 0..<1_000 { #expect(sender.giveSign()) }
        let answer = DaemonMessage.failure(
            id: 7, KeychainError(.parameter, message: String(repeating: "x", count: 64 << 10))
        ).frame()
        try sender.send(answer)
        let bytes = received(pair)
        let signs = bytes.dropLast(TestClient.bytes(of: answer).count)
        #expect(Array(signs) == Array(repeating: sign, count: signs.count / sign.count).flatMap(\.self))
        #expect(!signs.isEmpty && signs.count < 1_000 * sign.count)
    }
}
