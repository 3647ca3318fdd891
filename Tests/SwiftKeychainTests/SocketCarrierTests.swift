import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Synchronization
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// A way to a daemon: what is sent again, and what never is.
@Suite struct SocketCarrierTests {
    private let caller = Caller(groups: ["G"])
    private let status = LockStatus(
        state: .unlocked, hasPasscode: true, keyPlace: .keyring, isWatched: false, idleLimit: nil,
        erasesAfterTenFailures: false, failedAttempts: 0, secondsUntilNextAttempt: 0, isRekeying: false, epoch: 1)

    private func item(_ secret: String) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(), attributes: [:], accessGroup: "G", synchronizable: false,
            accessControl: AccessControl(.whenUnlocked), created: 0, modified: 0, secret: .of(secret))
    }

    private func withSocketPath(_ body: (String) throws -> Void) throws {
        try withTemporaryDirectory { try body($0.appendingPathComponent("s").path) }
    }

    private func carrier(_ path: String) -> SocketCarrier {
        SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]))
    }

    private func answers(_ peer: FakeDaemon.Peer, _ seen: Counter) throws {
        guard try peer.welcome() else { return }
        while case .request(let id, _) = try peer.receive() {
            seen.add()
            peer.send(.reply(id: id, .deleted(1), isLast: true))
        }
    }

    /// What a request comes to; its request as it arrived is counted by `seen`.
    private func failure(_ body: () throws(KeychainError) -> Void) -> KeychainError? {
        do throws(KeychainError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("A call goes out once and its answer comes back, over one connection for all calls of a thread")
    func plainCalls() throws {
        try withSocketPath { path in
            let seen = Counter()
            let connections = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in
                connections.add()
                try answers(peer, seen)
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            for _ in 0..<5 { _ = try carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller) }
            #expect(seen.count == 5)
            #expect(connections.count == 1)
        }
    }

    @Test("Who is not there is named with what starts it, at once")
    func absent() throws {
        try withSocketPath { path in
            let error = failure { () throws(KeychainError) in _ = try carrier(path).handle(.status, from: caller) }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains(path) == true)
            #expect(error?.message.contains("start") == true)
        }
    }

    @Test("A daemon of another user is told nothing")
    func foreignDaemon() throws {
        try withSocketPath { path in
            let heard = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in if peer.read(1) != nil { heard.add() } }
            defer { daemon.stop() }
            let carrier = SocketCarrier(DaemonAddress(path: path, owners: [geteuid() + 1]))
            let error = failure { () throws(KeychainError) in _ = try carrier.handle(.status, from: caller) }
            #expect(error?.message.contains("belongs to another user") == true)
            #expect(heard.count == 0)
        }
    }

    @Test("A change whose answer never comes is not sent again, and its outcome is called unknown")
    func unknownOutcome() throws {
        try withSocketPath { path in
            let seen = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome() else { return }
                if case .request = try peer.receive() { seen.add() }
            }
            defer { daemon.stop() }
            let error = failure { () throws(KeychainError) in
                _ = try carrier(path).handle(.delete(ItemQuery(.genericPassword)), from: caller)
            }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("is not known") == true)
            #expect(seen.count == 1)
        }
    }

    @Test("A question whose answer never comes is asked again, but not for ever")
    func repeatedQuestion() throws {
        try withSocketPath { path in
            let seen = Counter()
            let status = status
            let daemon = try FakeDaemon(at: path) { peer, number in
                guard try peer.welcome(), case .request(let id, _) = try peer.receive() else { return }
                seen.add()
                if number == 1 { peer.send(.reply(id: id, .lockStatus(status), isLast: true)) }
            }
            let carrier = carrier(path)
            guard case .lockStatus = try carrier.handle(.lockStatus, from: caller) else {
                Issue.record("another reply")
                return
            }
            #expect(seen.count == 2)
            daemon.stop()
            let silent = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome(), case .request = try peer.receive() else { return }
                seen.add()
            }
            defer { silent.stop() }
            let error = failure { () throws(KeychainError) in _ = try carrier.handle(.lockStatus, from: caller) }
            #expect(error?.code == .notAvailable)
            #expect(seen.count == 5)
        }
    }

    @Test("After a restart the next call goes through, a change too: it had not been sent")
    func restart() throws {
        try withSocketPath { path in
            let seen = Counter()
            let carrier = carrier(path)
            for round in 1...3 {
                let daemon = try FakeDaemon(at: path) { peer, _ in try answers(peer, seen) }
                _ = try carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller)
                #expect(seen.count == round)
                daemon.stop()
            }
        }
    }

    @Test("A daemon that is being started anew is waited for")
    func restartTakesTime() throws {
        try withSocketPath { path in
            let seen = Counter()
            let started = Mutex<FakeDaemon?>(nil)
            var patience = Patience()
            patience.pause = {
                started.withLock {
                    if $0 == nil { $0 = try? FakeDaemon(at: path) { peer, _ in try answers(peer, seen) } }
                }
            }
            let carrier = SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]), patience)
            let daemon = try FakeDaemon(at: path) { peer, _ in try answers(peer, seen) }
            _ = try carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller)
            daemon.stop()
            _ = try carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller)
            #expect(seen.count == 2)
            started.withLock { $0?.stop() }
        }
    }

    @Test("A goodbye says whether the request was begun: only then is it sent again", arguments: [true, false])
    func goodbye(wasBegun: Bool) throws {
        try withSocketPath { path in
            let seen = Counter()
            let daemon = try FakeDaemon(at: path) { peer, number in
                guard number == 0 else { return try answers(peer, seen) }
                guard try peer.welcome() else { return }
                guard case .request(let first, _) = try peer.receive() else { return }
                peer.send(.reply(id: first, .deleted(1), isLast: true))
                guard case .request(let id, _) = try peer.receive() else { return }
                let last = wasBegun ? id : first
                peer.send(.goodbye(DaemonGoodbye(.shuttingDown, "keychaind ends", lastRequest: last)))
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            let request = Request.delete(ItemQuery(.genericPassword))
            _ = try carrier.handle(request, from: caller)
            let error = failure { () throws(KeychainError) in _ = try carrier.handle(request, from: caller) }
            #expect((error == nil) == !wasBegun)
            #expect(seen.count == (wasBegun ? 0 : 1))
        }
    }

    @Test("An answer in several parts is put together; one that mixes kinds is refused")
    func parts() throws {
        try withSocketPath { path in
            let daemon = try FakeDaemon(at: path) { peer, number in
                guard try peer.welcome(), case .request(let id, _) = try peer.receive() else { return }
                peer.send(.reply(id: id, .found([item("a")]), isLast: false))
                peer.send(.reply(id: id, number == 0 ? .found([item("b")]) : .done, isLast: true))
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            let request = Request.find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: true))
            guard case .found(let items) = try carrier.handle(request, from: caller) else {
                Issue.record("another reply")
                return
            }
            #expect(items.map { $0.secret?.copyData() } == [Data("a".utf8), Data("b".utf8)])
            // The connection of the first call has ended; all that follow give mixed answers.
            let error = failure { () throws(KeychainError) in _ = try carrier.handle(request, from: caller) }
            #expect(error != nil)
        }
    }

    @Test("A daemon's error arrives as it is, and the connection goes on")
    func errors() throws {
        try withSocketPath { path in
            let connections = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in
                connections.add()
                guard try peer.welcome() else { return }
                while case .request(let id, _) = try peer.receive() {
                    peer.send(.failure(id: id, KeychainError(.duplicateItem, message: "it is there")))
                }
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            for _ in 0..<3 {
                let error = failure { () throws(KeychainError) in
                    _ = try carrier.handle(.add(AddRequest(.genericPassword)), from: caller)
                }
                #expect(error?.code == .duplicateItem)
                #expect(error?.message == "it is there")
            }
            #expect(connections.count == 1)
        }
    }

    @Test("Random bytes instead of an answer are an error, and no reason to crash")
    func randomBytes() throws {
        try withSocketPath { path in
            let daemon = try FakeDaemon(at: path) { peer, number in
                guard try peer.welcome(), case .request = try peer.receive() else { return }
                var generator = SeededGenerator(seed: UInt64(number))
                let count = Int.random(in: 1...64, using: &generator)
                peer.send(Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            for _ in 0..<50 {
                let error = failure { () throws(KeychainError) in
                    _ = try carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller)
                }
                #expect(error?.code == .notAvailable)
            }
        }
    }

    @Test("Many threads are all served, over a bounded number of connections")
    func manyThreads() throws {
        try withSocketPath { path in
            let seen = Counter()
            let present = Counter()
            let most = Mutex(0)
            let daemon = try FakeDaemon(at: path) { peer, _ in
                present.add()
                most.withLock { $0 = max($0, present.count) }
                defer { present.value.add(-1, ordering: .relaxed) }
                try answers(peer, seen)
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                for _ in 0..<20 { _ = try? carrier.handle(.delete(ItemQuery(.genericPassword)), from: caller) }
            }
            #expect(seen.count == 64 * 20)
            #expect(most.withLock { $0 } <= 16)
        }
    }

    @Test("Callers with other groups have connections of their own")
    func callersApart() throws {
        try withSocketPath { path in
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard case .hello(let hello) = try peer.receive() else { return }
                peer.send(.welcome(DaemonWelcome(instance: UUID(), processID: 1, release: "fake")))
                while case .request(let id, _) = try peer.receive() {
                    let bytes = hello.groups.map { $0.utf8.map { String($0, radix: 16) }.joined() }
                    peer.send(.failure(id: id, KeychainError(.itemNotFound, message: "\(bytes)")))
                }
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            for groups in [["A"], ["B", "C"], ["A"], ["é"], ["e\u{301}"]] {
                let error = failure { () throws(KeychainError) in
                    _ = try carrier.handle(.status, from: Caller(groups: groups))
                }
                #expect(error?.message == "\(groups.map { $0.utf8.map { String($0, radix: 16) }.joined() })")
            }
        }
    }

    @Test("A wait for the lock ends with its change, and no change between two waits is missed")
    func lockChanges() throws {
        try withSocketPath { path in
            let epochs = Mutex<[UInt64]>([])
            var present = status
            present.epoch = 7
            let first = present
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome(), case .subscribe(let id, _) = try peer.receive() else { return }
                var status = first
                peer.send(.event(id: id, .lock(status)))
                for _ in 0..<3 {
                    status.epoch += 1
                    epochs.withLock { $0.append(status.epoch) }
                    peer.send(.event(id: id, .items(.genericPassword, accessGroup: "G")))
                    peer.send(.event(id: id, .lock(status)))
                }
                _ = try peer.receive()
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            var epoch: UInt64 = 6
            for expected in 7...10 as ClosedRange<UInt64> {
                epoch = try carrier.waitForLockChange(since: epoch, timeout: .seconds(60))
                #expect(epoch == expected)
            }
            #expect(try carrier.waitForLockChange(since: epoch, timeout: .milliseconds(20)) == 10)
        }
    }

    @Test("Whoever waits for the lock is told by the daemon that was started anew too")
    func lockAfterRestart() throws {
        try withSocketPath { path in
            let carrier = carrier(path)
            var epoch: UInt64 = 0
            for round in 1...3 as ClosedRange<UInt64> {
                var present = status
                present.epoch = round * 10
                let told = present
                let daemon = try FakeDaemon(at: path) { peer, _ in
                    guard try peer.welcome(), case .subscribe(let id, _) = try peer.receive() else { return }
                    peer.send(.event(id: id, .lock(told)))
                    _ = try peer.receive()
                }
                epoch = try carrier.waitForLockChange(since: epoch, timeout: .seconds(60))
                #expect(epoch == round * 10)
                daemon.stop()
            }
        }
    }

    @Test("Nobody listens for changes before the daemon has begun to tell them, which the lock's state shows")
    func itemChanges() throws {
        try withSocketPath { path in
            let first = StoreChange.lock(status)
            let change = StoreChange.items(.genericPassword, accessGroup: "G")
            for (told, isRight) in [([], false), ([change, first], false), ([first, change], true)] {
                let daemon = try FakeDaemon(at: path) { peer, _ in
                    guard try peer.welcome(), case .subscribe(let id, _) = try peer.receive() else { return }
                    for change in told { peer.send(.event(id: id, change)) }
                    if !told.isEmpty { _ = try peer.receive() }
                }
                defer { daemon.stop() }
                let error = failure { () throws(KeychainError) in
                    let listener = try carrier(path).listenForChanges(as: caller)
                    #expect(isRight)
                    #expect(try listener.waitForChange(timeout: .seconds(60)))
                }
                #expect(error?.code == (isRight ? nil : .notAvailable))
            }
        }
    }

    @Test("A refusal that would be repeated is not asked for again")
    func refusal() throws {
        try withSocketPath { path in
            let seen = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome() else { return }
                while case .request(let id, _) = try peer.receive() {
                    seen.add()
                    if seen.count > 1 { return peer.send(.goodbye(DaemonGoodbye(.malformed, "not like that"))) }
                    peer.send(.reply(id: id, .deleted(1), isLast: true))
                }
            }
            defer { daemon.stop() }
            let carrier = carrier(path)
            let request = Request.delete(ItemQuery(.genericPassword))
            _ = try carrier.handle(request, from: caller)
            let error = failure { () throws(KeychainError) in _ = try carrier.handle(request, from: caller) }
            #expect(error?.message == "not like that")
            #expect(seen.count == 2)
        }
    }

    @Test("What is too large for a daemon is refused before it is sent, as the engine would")
    func tooLarge() throws {
        try withSocketPath { path in
            let seen = Counter()
            let daemon = try FakeDaemon(at: path) { peer, _ in try answers(peer, seen) }
            defer { daemon.stop() }
            var request = AddRequest(.genericPassword)
            request.secret = SecretBytes(count: 81 << 20) { _ in }
            let error = failure { () throws(KeychainError) in
                _ = try carrier(path).handle(.add(request), from: caller)
            }
            #expect(error?.code == .dataTooLarge)
            #expect(seen.count == 0)
        }
    }

    @Test("Calls of tasks do not keep other tasks from running", .timeLimit(.minutes(20)))
    func tasks() async throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("s").path
        let gate = DispatchSemaphore(value: 0)
        let daemon = try FakeDaemon(at: path) { peer, _ in
            guard try peer.welcome() else { return }
            while case .request(let id, _) = try peer.receive() {
                gate.wait()
                peer.send(.reply(id: id, .deleted(1), isLast: true))
            }
        }
        defer { daemon.stop() }
        let connection = Connection(engine: carrier(path), caller: caller)
        // More calls than there are threads for tasks. Were they blocked, the task that opens the gate would never run.
        let count = 12
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    _ = try await BlockingCalls.shared.run {
                        try connection.perform(.delete(ItemQuery(.genericPassword)))
                    }
                }
            }
            group.addTask { for _ in 0..<count { gate.signal() } }
            try await group.waitForAll()
        }
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}
