import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Synchronization
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// How many of them this process was sent.
private let signalCount = Atomic(0)

/// What a client makes of a daemon that answers something else than it was asked, or without an end.
@Suite(.serialized) struct StrangeAnswerTests {
    private let caller = Caller(groups: ["G"])

    /// What a request comes to at a program that does `serve` with each request.
    private func outcome(
        of request: Request, version: UInt32 = ClientHello.currentVersion,
        _ serve: @escaping @Sendable (FakeDaemon.Peer, UInt64) -> Void
    ) throws -> Result<Reply, KeychainError> {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard case .hello = try peer.receive() else { return }
                peer.send(
                    .welcome(DaemonWelcome(version: version, instance: UUID(), processID: getpid(), release: "fake")))
                while case .request(let id, _) = try peer.receive() { serve(peer, id) }
            }
            defer { daemon.stop() }
            let carrier = SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]))
            return Result { () throws(KeychainError) in try carrier.handle(request, from: caller) }
        }
    }

    private func failure(of outcome: Result<Reply, KeychainError>) -> KeychainError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    static func item(_ secret: SecretBytes?) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(), attributes: [:], accessGroup: "G", synchronizable: false,
            accessControl: AccessControl(.whenUnlocked), created: 0, modified: 0, secret: secret)
    }

    private static let strange: [Reply] = [
        .found([]), .deleted(1), .committed(true), .checked([]),
        .authenticationNeeded(AuthenticationChallenge([[.passcode]])),
    ]

    @Test("A lock that is answered with anything but that it is done has failed", arguments: strange.indices)
    func lock(index: Int) throws {
        let outcome = try outcome(of: .lock(.now)) { peer, id in
            peer.send(.reply(id: id, Self.strange[index], isLast: true))
        }
        #expect(failure(of: outcome)?.code == .notAvailable)
        #expect(failure(of: outcome)?.message.contains("something else than was asked") == true)
    }

    @Test("So has every other request, and what changes something is not sent again")
    func others() throws {
        let query = ItemQuery(.genericPassword)
        let requests: [Request] = [
            .update(UpdateRequest(query, changes: ItemChanges())), .delete(query), .add(AddRequest(.key)),
            .find(FindRequest(query, wantsSecrets: true)), .status, .compact, .giveUpStore, .renewLease,
            .authenticated(AuthenticationProof(passcode: .of("1234")), .delete(query)),
        ]
        for request in requests {
            let sent = Mutex(0)
            let outcome = try outcome(of: request) { peer, id in
                sent.withLock { $0 += 1 }
                peer.send(.reply(id: id, .imported([]), isLast: true))
            }
            #expect(failure(of: outcome)?.code == .notAvailable, "\(request)")
            #expect(request.mayBeRepeated || sent.withLock { $0 } == 1, "\(request)")
        }
    }

    @Test("A look at what has expired may be repeated, and a deletion of it may not: its answer is a count")
    func expired() {
        #expect(Request.expiredItems(deleting: []).mayBeRepeated)
        #expect(!Request.expiredItems(deleting: [UUID()]).mayBeRepeated)
    }

    @Test("A daemon of another version of the protocol is asked nothing")
    func version() throws {
        let asked = Atomic(false)
        let outcome = try outcome(of: .status, version: 99) { peer, id in
            asked.store(true, ordering: .relaxed)
            peer.send(.failure(id: id, KeychainError(.inputOutput, message: "asked")))
        }
        #expect(failure(of: outcome)?.code == .notAvailable)
        #expect(failure(of: outcome)?.message.contains("version 99") == true)
        let wasAsked = asked.load(ordering: .relaxed)
        #expect(!wasAsked)
    }

    @Test("Parts without an end end with an error", arguments: [0, 1 << 20])
    func endless(bytes: Int) throws {
        let item = Self.item(SecretBytes(count: bytes) { _ in })
        let isOver = Atomic(false)
        let request = Request.find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: true))
        let outcome = try outcome(of: request) { peer, id in
            let part = DaemonMessage.reply(id: id, .found(bytes == 0 ? [] : [item]), isLast: false)
            // As many as a client that takes all of them would take a gigabyte for, or forever.
            for _ in 0..<1_024 where !isOver.load(ordering: .relaxed) { peer.send(part) }
            shutdown(peer.descriptor, Int32(SHUT_RDWR))
        }
        isOver.store(true, ordering: .relaxed)
        #expect(failure(of: outcome)?.message.contains("does not end") == true, "\(outcome)")
    }

    @Test("A part of more items than a daemon sends is refused before they are made")
    func items() throws {
        let request = Request.find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: false))
        let outcome = try outcome(of: request) { peer, id in
            peer.send(.reply(id: id, .found(Array(repeating: Self.item(nil), count: 20_000)), isLast: true))
        }
        #expect(failure(of: outcome)?.message.contains("more than 16384 items") == true, "\(outcome)")
    }

    @Test("Of a long text for a person the beginning is shown")
    func longText() throws {
        let outcome = try outcome(of: .status) { peer, id in
            let text = "why: " + String(repeating: "é\u{1b}[31m", count: 20_000)
            peer.send(.failure(id: id, KeychainError(.inputOutput, message: text)))
        }
        let message = try #require(failure(of: outcome)?.message)
        #expect(message.hasPrefix("why: é") && message.hasSuffix("…"))
        #expect(message.utf8.count <= 4_100)
    }

    @Test(
        "An answer that names no query, or one that was not asked, is another than was asked", arguments: [nil, 1, 15])
    func foreignQueries(number: Int?) throws {
        var resolution = Resolution()
        resolution.asking = number.map { [$0] } ?? []
        let told = resolution
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome(), case .request(let id, _) = try peer.receive() else { return }
                peer.send(.reply(id: id, .resolved(told), isLast: true))
            }
            defer { daemon.stop() }
            let connection = Connection(
                engine: SocketCarrier(DaemonAddress(path: path, owners: [geteuid()])), caller: caller)
            let error = #expect(throws: KeychainError.self) {
                _ = try connection.resolve(ResolveRequest([[ItemQuery(.genericPassword)]]))
            }
            #expect(error?.code == .internalFailure)
        }
    }

    // MARK: No place

    /// A daemon without a place, in this process: it takes signals, and says from the first one on what `isLocked` says.
    private func lockWithoutPlace(
        _ isLocked: Bool, hasNoPasscode: Bool = false
    ) throws -> (outcome: Result<Reply, KeychainError>, signals: Int) {
        signalCount.store(0, ordering: .relaxed)
        signal(SIGUSR1) { _ in signalCount.add(1, ordering: .relaxed) }
        return try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                var yes: Int32 = 1
                setsockopt(peer.descriptor, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size))
                let says = isLocked && signalCount.load(ordering: .relaxed) > 0
                peer.send(
                    .goodbye(
                        DaemonGoodbye(.tooManyConnections, "no place", isLocked: says, hasNoPasscode: hasNoPasscode)))
            }
            defer { daemon.stop() }
            let carrier = SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]))
            let outcome = Result { () throws(KeychainError) in try carrier.handle(.lock(.now), from: caller) }
            // Another thread may take the one that was sent a moment later.
            for _ in 0..<60_000 where signalCount.load(ordering: .relaxed) == 0 { usleep(1_000) }
            return (outcome, signalCount.load(ordering: .relaxed))
        }
    }

    @Test("A lock for which there is no place comes by a signal, and is done when the daemon says so")
    func lockBySignal() throws {
        let (outcome, signals) = try lockWithoutPlace(true)
        guard case .success(.done) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(signals == 1)
        let (unconfirmed, more) = try lockWithoutPlace(false)
        #expect(failure(of: unconfirmed)?.message.contains("does not say that it has") == true)
        #expect(more == 1)
        let (impossible, _) = try lockWithoutPlace(false, hasNoPasscode: true)
        #expect(failure(of: impossible)?.code == .noPasscode)
    }

    @Test("A daemon whose process a client cannot see is sent no signal, and nobody else is")
    func unseenDaemon() throws {
        signalCount.store(0, ordering: .relaxed)
        signal(SIGUSR1) { _ in signalCount.add(1, ordering: .relaxed) }
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                var yes: Int32 = 1
                setsockopt(peer.descriptor, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size))
                peer.send(.goodbye(DaemonGoodbye(.tooManyConnections, "no place", isLocked: false)))
            }
            defer { daemon.stop() }
            let (process, errors) = (Process(), Pipe())
            // In a session of its own, so that a signal to the group would end it and no more.
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
            process.arguments =
                ["--wait", "unshare", "--user", "--map-root-user", "--pid", "--fork"]
                + [BuiltProducts.url(of: "keychainctl").path, "lock"]
            process.environment = ["HOME": directory.path, "KEYCHAIN_HOST": "unix:\(path)", "PATH": "/usr/bin:/bin"]
            process.standardError = errors
            try process.run()
            let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 53, "\(said)")
            #expect(said.contains("cannot be signalled"), "\(said)")
        }
        #expect(signalCount.load(ordering: .relaxed) == 0)
    }
}
