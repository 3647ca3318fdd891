import CKeychainLinux
import Foundation
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Logging
import Synchronization
import Testing

@testable import KeychainDaemon

@Suite struct SystemServerTests {
    /// Takes this process for one program.
    private struct OneProgram: Admission {
        let store: ServedStore

        var isShared: Bool { true }
        var stores: [ServedStore] { [store] }

        func prepare(saysFailure: Bool) {}
        func store(of user: uid_t) -> ServedStore { store }
        func stop() {}

        func judge(_ peer: PeerIdentity) throws(ConnectionEnd) -> Judgement {
            Judgement(
                CallerDescription(
                    kind: .unit, name: "a.service", groups: ["own"], evidence: ["seen"], pid: peer.evidence.pid,
                    uid: peer.evidence.uid), try ProcessStanding(of: peer))
        }
    }

    /// Says the same each time, and counts the questions.
    private final class Answering: OwnerConsent {
        let count = Observed(0)
        private let refusal: KeychainError?

        init(_ refusal: KeychainError? = nil) { self.refusal = refusal }

        func ask(for process: ConsentingProcess, _ cancellation: Cancellation) throws(KeychainError) {
            #expect(process.pid == getpid() && process.uid == geteuid())
            count.update { $0 += 1 }
            if let refusal { throw refusal }
        }
    }

    private func withSystemServer<R>(
        _ engine: any ChangeSource, limits: Limits = Limits(), consent: any OwnerConsent = Answering(),
        _ body: (TestServer) throws -> R
    ) throws -> R {
        try withTemporaryDirectory { directory in
            let server = try TestServer(
                in: directory, limits: limits, admission: { OneProgram(store: $0) }, consent: consent,
                openEngine: { engine })
            let result = Result { try body(server) }
            server.server.stop()
            server.store.close()
            return try result.get()
        }
    }

    // MARK: Nonce

    @Test("Every connection has a nonce of its own, which the first request repeats")
    func nonce() throws {
        try withSystemServer(FakeEngine()) { server throws in
            let (one, other) = (try server.connect(), try server.connect())
            let nonces = [one, other].compactMap { $0.welcome?.nonce }
            #expect(nonces.map(\.count) == [16, 16] && nonces[0] != nonces[1])
            try one.ask(.rekeyStep)
            try one.ask(.rekeyStep)
            try other.subscribe()
            _ = try other.nextChange()
        }
    }

    @Test("What was written before the welcome, or repeats another nonce, is not begun", arguments: 0...2)
    func otherNonce(kind: Int) throws {
        let isAsked = Observed(false)
        let engine = FakeEngine { _, _ throws(KeychainError) in
            isAsked.update { $0 = true }
            return .done
        }
        try withSystemServer(engine) { server throws in
            let former = try #require(try server.connect().welcome?.nonce)
            let client = try TestClient(server.path)
            let nonce = [Data(), Data(count: 16), former][kind]
            try client.send(.hello(ClientHello(groups: [], authority: .owner)))
            try client.send(bytes: TestClient.bytes(of: ClientMessage.request(id: 1, .rekeyStep).frame(nonce: nonce)))
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .refused && goodbye.lastRequest == 0)
            #expect(goodbye.message.contains("nonce"))
            #expect(!isAsked.value)
        }
    }

    // MARK: Callers

    @Test("A hello's groups count for nothing, and an owner is one who says so")
    func caller() throws {
        let callers = Observed<[Caller]>([])
        let engine = FakeEngine { _, caller throws(KeychainError) in
            callers.update { $0.append(caller) }
            return .done
        }
        try withSystemServer(engine) { server throws in
            let client = try server.connect(groups: ["other"], authority: .owner)
            try client.ask(.rekeyStep)
            try server.connect(groups: ["other"]).ask(.rekeyStep)
            #expect(callers.value.map(\.groups) == [["own"], ["own"]])
            #expect(callers.value.map(\.authority) == [.claimedOwner, .groups])
            let told = try #require(client.welcome?.caller)
            #expect(told.kind == .unit && told.name == "a.service" && told.groups == ["own"])
            #expect(told.pid == getpid())
        }
    }

    @Test("A user's daemon says that its clients name their groups themselves")
    func declared() throws {
        try withServer(FakeEngine()) { server throws in
            let welcome = try #require(try server.connect(groups: ["A"]).welcome)
            #expect(welcome.nonce.isEmpty)
            #expect(welcome.caller?.kind == .declared && welcome.caller?.groups == ["A"])
        }
    }

    // MARK: Consent

    private static func forOwners() -> FakeEngine {
        FakeEngine { _, caller throws(KeychainError) in
            guard caller.authority != .owner else { return .done }
            throw KeychainError(.missingEntitlement, message: "for the owner", signal: .needsOwner)
        }
    }

    @Test("Where only the owner may, the owner is asked, each time and for that request alone")
    func consent() throws {
        let consent = Answering()
        try withSystemServer(Self.forOwners(), consent: consent) { server throws in
            let client = try server.connect(authority: .owner)
            for count in 1...2 {
                guard case .done = try client.ask(.compact) else {
                    Issue.record("another answer")
                    return
                }
                #expect(consent.count.value == count)
            }
        }
    }

    @Test("Without the owner's consent nothing is done, and the client is told why")
    func noConsent() throws {
        let refusal = KeychainError(.userCancelled, message: "not now")
        try withSystemServer(Self.forOwners(), consent: Answering(refusal)) { server throws in
            let client = try server.connect(authority: .owner)
            let error = #expect(throws: KeychainError.self) { try client.ask(.rekeyStep) }
            #expect(error?.code == .userCancelled && error?.message == "not now")
        }
    }

    // MARK: Standing

    @Test(
        "A process that is as it was stays served, and one that has another group is cut off",
        .enabled(if: geteuid() == 0))
    func standing() throws {
        let script = """
            import os, socket, sys
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            print("connected", flush=True)
            sys.stdin.readline()
            os.setegid(54321)
            print("changed", flush=True)
            sys.stdin.readline()
            """
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("socket").path
            var number: Int32 = -1
            try #require(ckeychain_listen(path, &number) == 0)
            let listener = OpenDescriptor(number)
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = ["-c", script, path]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            func awaitLine() throws -> String {
                var line = ""
                while !line.hasSuffix("\n"), let byte = try output.fileHandleForReading.read(upToCount: 1) {
                    line += String(decoding: byte, as: UTF8.self)
                }
                return line
            }
            #expect(try awaitLine() == "connected\n")
            try #require(ckeychain_accept(listener.number, &number) == 0)
            let socket = OpenDescriptor(number)
            let peer = try PeerIdentity(of: socket.number)
            var standing = try ProcessStanding(of: peer)
            standing.isOfCgroup = true
            try standing.require()
            input.fileHandleForWriting.write(Data("\n".utf8))
            #expect(try awaitLine() == "changed\n")
            do throws(ConnectionEnd) {
                try standing.require()
                Issue.record("it is still served")
            } catch {
                guard case .goodbye(.refused, _) = error else { throw error }
            }
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    @Test("What the kernel says of this process is understood")
    func ownEvidence() throws {
        let pair = try SocketPair()
        let standing = try ProcessStanding(of: PeerIdentity(of: pair.served.number))
        #expect(standing.evidence.users == [getuid(), geteuid(), geteuid(), geteuid()])
        #expect(standing.evidence.groups[1] == getegid())
        #expect(standing.evidence.namespace == .own && standing.evidence.pidCount >= 1)
        try standing.require()
    }

    // MARK: The store

    @Test("A store that is given up ends its own connections, the daemon stays, and the next client opens it anew")
    func givenUp() throws {
        let openCount = Observed(0)
        try withTemporaryDirectory { directory in
            let server = try TestServer(
                in: directory, admission: { OneProgram(store: $0) },
                openEngine: { () throws(KeychainError) in
                    openCount.update { $0 += 1 }
                    return FakeEngine()
                })
            let (client, other) = (try server.connect(), try server.connect())
            try client.ask(.giveUpStore)
            for client in [client, other] { #expect(try client.goodbye().reason == .storeGivenUp) }
            #expect(comesTrue { (try? server.serves()) == true })
            #expect(openCount.value == 2)
            #expect(server.ends.value.isEmpty)
            server.server.stop()
            server.store.close()
        }
    }

    @Test("A give-up that is answered with a challenge ends no store")
    func challengedGiveUp() throws {
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .giveUpStore = request {
                .authenticationNeeded(AuthenticationChallenge([[.passcode]]))
            } else {
                .done
            }
        }
        try withSystemServer(engine) { server throws in
            let client = try server.connect()
            guard case .authenticationNeeded = try client.ask(.giveUpStore) else {
                Issue.record("no challenge")
                return
            }
            // The end of a store comes before the next request of the connection that gave it up.
            guard case .done = try client.ask(.rekeyStep) else {
                Issue.record("the store has ended")
                return
            }
        }
    }

    @Test("A client of a store that is being given up is told so, and does not keep it")
    func newcomer() throws {
        try withSystemServer(FakeEngine()) { server throws in
            server.store.ending.set(.storeGivenUp)
            let client = try TestClient(server.path)
            #expect(try client.goodbye().reason == .storeGivenUp)
            server.store.ending.clear()
            #expect(try server.serves())
        }
    }

    @Test("A user's clients fill no log: some lines a minute are enough")
    func lines() throws {
        try withSystemServer(FakeEngine()) { server throws in
            for _ in 0..<30 {
                let client = try server.connect()
                try client.send(.hello(ClientHello(groups: [], authority: .groups)))
                #expect(try client.goodbye().reason == .malformed)
            }
            #expect(server.log.value.count { $0.contains("cut off") } <= 11)
            #expect(server.hasLogged("cut off"))
        }
    }

    @Test("A store without a client is closed when no key is lost with it, and opened again for the next one")
    func idle() throws {
        let openCount = Observed(0)
        let hasKeys = Observed(true)
        func store() -> ServedStore {
            ServedStore(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { () throws(KeychainError) in
                openCount.update { $0 += 1 }
                return FakeEngine(lockStatus: .unlocked(epoch: 1, hasPasscode: hasKeys.value))
            }
        }
        let locked = store()
        locked.enter()
        try locked.engine()
        locked.close(ifIdleFor: .zero)
        #expect(locked.engineIfOpen != nil, "a client is there")
        locked.leave()
        locked.close(ifIdleFor: .zero)
        #expect(locked.engineIfOpen != nil, "its keys would be lost")
        locked.close()
        hasKeys.update { $0 = false }
        let open = store()
        open.enter()
        try open.engine()
        open.leave()
        open.close(ifIdleFor: .seconds(600))
        #expect(open.engineIfOpen != nil, "it was used just now")
        open.close(ifIdleFor: .zero)
        #expect(open.engineIfOpen == nil)
        try open.engine()
        #expect(openCount.value == 3)
        open.close()
    }

    // MARK: Locks

    @Test("A lock needs no place: it is asked for by the way of connecting, and the answer says how the lock is")
    func lock() throws {
        var limits = Limits()
        (limits.connections, limits.furtherConnections, limits.connectionsPerProcess) = (1, 0, 1)
        let isLocked = Observed(false)
        let engine = FakeEngine { request, caller throws(KeychainError) in
            if case .lock = request, caller.authority == .owner { isLocked.update { $0 = true } }
            return .done
        }
        try withSystemServer(engine, limits: limits) { server throws in
            let holder = try server.connect()
            #expect(try TestClient(server.path).goodbye().reason == .tooManyConnections)
            let asking = try TestClient(server.path, isForLock: true)
            let goodbye = try asking.goodbye()
            #expect(goodbye.reason == .tooManyConnections && !goodbye.isLocked)
            #expect(isLocked.wait { $0 })
            try holder.ask(.rekeyStep)
        }
    }
}
