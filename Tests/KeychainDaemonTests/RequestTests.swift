import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

@testable import KeychainDaemon

extension Item {
    static func password(_ secret: SecretBytes?) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(), attributes: [.account: .text("a")], accessGroup: "G",
            synchronizable: false, accessControl: AccessControl(.whenUnlocked), created: 1, modified: 2, secret: secret)
    }
}

extension Request {
    static var find: Request { .find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: true)) }

    static func add(secret: SecretBytes) -> Request {
        var request = AddRequest(.genericPassword)
        request.secret = secret
        return .add(request)
    }
}

@Suite struct RequestTests {
    @Test("Requests are answered in their order, also if all are sent first")
    func order() throws {
        let engine = FakeEngine { request, _ throws(KeychainError) in
            guard case .unlock(let passcode) = request else { return .done }
            return .found([.password(passcode)])
        }
        try withServer(engine) { server throws in
            let client = try server.connect()
            let ids = try (0..<100).map { try client.begin(.unlock(.of("secret \($0)"))) }
            for (number, id) in ids.enumerated() {
                guard case .found(let items) = try client.answer(to: id) else {
                    Issue.record("another answer")
                    return
                }
                #expect(
                    items.first?.secret.map { String(decoding: $0.copyData(), as: UTF8.self) } == "secret \(number)")
            }
        }
    }

    @Test("An error keeps its status and its text")
    func failure() throws {
        let engine = FakeEngine { _, _ throws(KeychainError) in
            throw KeychainError(.missingEntitlement, message: "group X is not yours")
        }
        try withServer(engine) { server throws in
            let client = try server.connect()
            for _ in 1...2 {
                let error = #expect(throws: KeychainError.self) { try client.ask(.status) }
                #expect(error?.code == .missingEntitlement)
                #expect(error?.message == "group X is not yours")
            }
        }
    }

    @Test("A request that is not understood is answered, and the next one too")
    func badRequest() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try server.connect()
            // A secret that no field of the request speaks of.
            var frame = try ClientMessage.request(id: 7, .status).frame()
            frame.secrets = [.of("too much")]
            try client.send(bytes: TestClient.bytes(of: frame))
            guard case .failure(7, let error) = try client.receive() else {
                Issue.record("another answer")
                return
            }
            #expect(!error.message.contains("too much"))
            try client.send(.request(id: 8, .rekeyStep))
            guard case .reply(8, .done, true) = try client.receive() else {
                Issue.record("another answer")
                return
            }
            // Its id must grow as well.
            try client.send(bytes: TestClient.bytes(of: frame))
            #expect(try client.goodbye().reason == .malformed)
        }
    }

    @Test("The ids of requests must grow", arguments: [[1, 1], [5, 4], [UInt64.max, 1]])
    func ids(numbers: [UInt64]) throws {
        try withServer(FakeEngine()) { server throws in
            let client = try server.connect()
            for id in numbers { try client.send(.request(id: id, .rekeyStep)) }
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .malformed)
            #expect(goodbye.lastRequest == numbers[0])
        }
    }

    @Test("Secrets of every size come and go unchanged", arguments: [0, 1, 8_000, 8_185, 8_192, 70_000, 5_000_000])
    func sizes(count: Int) throws {
        let engine = FakeEngine { request, _ throws(KeychainError) in
            guard case .add(let request) = request else { return .done }
            return .added(.password(request.secret))
        }
        let secret = SecretBytes(count: count) { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        }
        try withServer(engine) { server throws in
            let client = try server.connect()
            for _ in 1...2 {
                guard case .added(let item) = try client.ask(.add(secret: secret)) else {
                    Issue.record("another answer")
                    return
                }
                #expect(item.secret?.copyData() == secret.copyData())
            }
        }
    }

    @Test("An answer has more secrets than the kernel takes at once")
    func manySecrets() throws {
        let engine = FakeEngine { _, _ throws(KeychainError) in
            .found((0..<5_000).map { .password(.of($0 % 3 == 0 ? "" : String($0))) })
        }
        try withServer(engine) { server throws in
            guard case .found(let items) = try server.connect().ask(.find) else {
                Issue.record("another answer")
                return
            }
            #expect(items.count == 5_000)
            for (number, item) in items.enumerated() {
                let secret = item.secret.map { String(decoding: $0.copyData(), as: UTF8.self) }
                #expect(secret == (number % 3 == 0 ? "" : String(number)))
            }
        }
    }

    @Test("A lock waits for nobody")
    func lockFirst() throws {
        let gate = Gate()
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .lock = request { return .done }
            gate.wait()
            return .done
        }
        var limits = Limits()
        (limits.readsAtOnce, limits.writesAtOnce, limits.largeAtOnce, limits.passcodesAtOnce) = (1, 1, 1, 1)
        try withServer(engine, limits: limits) { server throws in
            var all = ItemQuery(.genericPassword)
            all.limit = .all
            let requests: [Request] = [
                .find, .add(secret: .of("s")), .find(FindRequest(all, wantsSecrets: false)), .unlock(.of("p")),
            ]
            let busy = try requests.flatMap { request in
                try (1...2).map { _ in
                    let client = try server.connect()
                    return (client, try client.begin(request))
                }
            }
            // One of each kind is at work, the others wait.
            gate.awaitArrival(of: 4)
            guard case .done = try server.connect().ask(.lock(.now)) else {
                Issue.record("another answer")
                return
            }
            gate.open()
            for (client, id) in busy {
                guard case .done = try client.answer(to: id) else {
                    Issue.record("another answer")
                    return
                }
            }
        }
    }

    @Test("Hundreds of clients after each other leave neither descriptors nor memory behind")
    func growth() throws {
        let engine = FakeEngine { request, _ throws(KeychainError) in
            guard case .add(let request) = request else { return .done }
            return .added(.password(request.secret))
        }
        try withServer(engine) { server throws in
            func work(_ connections: Int) throws {
                for _ in 0..<connections {
                    let client = try server.connect()
                    for _ in 0..<10 { try client.ask(.add(secret: .of("secret"))) }
                }
            }
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            try work(100)
            let (files, memory) = (try descriptors(), try residentBytes())
            try work(600)
            // Other tests run in this process at the same time; a leak would be six hundred.
            #expect(try descriptors() < files + 300)
            #expect(try residentBytes() < memory + (48 << 20))
        }
    }
}

/// Of this process, by the kernel's account.
func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (Int(fields[1]) ?? 0) * 4096
}
