import Foundation
import KeychainBus
import KeychainLogin
import KeychainModel
import KeychainSystem
import Synchronization
import Testing

/// A keychain that writes down what its watcher asks of it, and fails when a test wants it to.
private final class RecordingStore: LockableStore, Sendable {
    private let journal: Journal
    private let failure = Mutex<KeychainError?>(nil)
    private let whileLocking: @Sendable () -> Void

    init(_ journal: Journal, whileLocking: @escaping @Sendable () -> Void) {
        self.journal = journal
        self.whileLocking = whileLocking
    }

    /// From now on, what every request ends with.
    func fail(with error: KeychainError?) { failure.withLock { $0 = error } }

    func lock(_ request: LockRequest) throws(KeychainError) {
        whileLocking()
        try note("lock \(request)")
    }

    func renewLease() throws(KeychainError) { try note("renew") }

    private func note(_ entry: String) throws(KeychainError) {
        let error = failure.withLock { $0 }
        journal.write(error == nil ? entry : "failed: \(entry)")
        if let error { throw error }
    }
}

/// A watcher at work on a thread of its own.
private struct RunningWatcher {
    let journal: Journal
    let store: RecordingStore
    private let stopping = Pipe()

    init(
        _ logind: TestLogind, sessionID: String?, interval: Duration, failure: KeychainError?,
        whileLocking: @escaping @Sendable () -> Void
    ) throws {
        let journal = Journal()
        let store = RecordingStore(journal, whileLocking: whileLocking)
        store.fail(with: failure)
        self.journal = journal
        self.store = store
        let address = logind.bus.address
        // A copy, which the watcher closes.
        let stop = fcntl(stopping.fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        Thread.detachNewThread {
            do {
                let login = try LoginManager(SystemBus(address: address), .ownSession(id: sessionID))
                let log = SessionWatcher.Log(
                    event: { journal.write("say: \($0)") }, trouble: { journal.write("trouble: \($0)") })
                let watcher = SessionWatcher(store, login, stop: OpenDescriptor(stop), interval: interval, log: log)
                try watcher.run { journal.write("ready") }
                journal.write("end")
            } catch {
                journal.write("end: \(type(of: error))")
            }
        }
        try journal.wait(for: "ready")
    }

    func stop() throws { try stopping.fileHandleForWriting.write(contentsOf: Data([0])) }

    /// Returns when it has nothing more to do with anything.
    func finish() throws {
        try stop()
        try journal.wait(until: "it ends") { $0.contains { $0.hasPrefix("end") } }
    }

    /// What it asked of the keychain to lock.
    var locks: [String] { journal.entries.filter { $0.hasPrefix("lock") } }

    /// Returns when the watcher has noticed everything that logind and others sent before.
    func catchUp(_ logind: TestLogind, session: String = "c1") throws {
        let count = journal.entries.count { $0 == Self.unlocked }
        try logind.order("unlock \(session)")
        try journal.wait(for: Self.unlocked, count: count + 1)
    }

    private static let unlocked =
        "say: the session is unlocked; a locked keychain stays locked until 'keychainctl unlock' opens it"
}

/// Runs `body` with a logind that has a session of this user, c1, and a watcher.
private func withWatcher(
    sessionID: String? = nil, interval: Duration = .seconds(20), failure: KeychainError? = nil,
    whileLocking: @escaping @Sendable (TestLogind) -> Void = { _ in },
    prepare: (TestLogind) throws -> Void = { _ in }, _ body: (TestLogind, RunningWatcher) throws -> Void
) throws {
    try withLogind { logind in
        try logind.order("session c1 \(geteuid())")
        try prepare(logind)
        let watcher = try RunningWatcher(
            logind, sessionID: sessionID, interval: interval, failure: failure,
            whileLocking: { whileLocking(logind) })
        let result = Result { try body(logind, watcher) }
        try watcher.finish()
        try result.get()
    }
}

@Suite struct WatchTests {
    // MARK: Sessions

    @Test("A session that is locked locks the keychain", arguments: [nil, "c1", "gone"])
    func lock(sessionID: String?) throws {
        try withWatcher(sessionID: sessionID) { logind, watcher in
            try logind.order("lock c1")
            try watcher.journal.wait(for: "lock withGrace")
            #expect(watcher.locks == ["lock withGrace"])
        }
    }

    @Test("The session of the process itself is found without its id")
    func ownSession() throws {
        try withWatcher(prepare: { try $0.order("own c1") }) { logind, watcher in
            #expect(watcher.journal.entries.contains("say: watching this session"))
            try logind.order("lock c1")
            try watcher.journal.wait(for: "lock withGrace")
        }
    }

    @Test("A desktop that locks its screen itself locks the keychain, once")
    func screen() throws {
        try withWatcher { logind, watcher in
            try logind.order("screen c1 true")
            try watcher.journal.wait(for: "lock withGrace")
            try logind.order("screen c1 true")
            try logind.order("screen c1 false")
            try watcher.catchUp(logind)
            #expect(watcher.locks == ["lock withGrace"])
            try logind.order("screen c1 true")
            try watcher.journal.wait(for: "lock withGrace", count: 2)
        }
    }

    @Test("A screen that is locked already when the watcher starts locks the keychain")
    func lockedAlready() throws {
        try withWatcher(prepare: { try $0.order("screen c1 true") }) { _, watcher in
            #expect(watcher.locks == ["lock withGrace"])
        }
    }

    @Test("A session that is unlocked unlocks nothing")
    func unlock() throws {
        try withWatcher { logind, watcher in
            try watcher.catchUp(logind)
            #expect(watcher.journal.entries.filter { !$0.hasPrefix("say") } == ["renew", "ready"])
        }
    }

    @Test("Sessions of others, and those without a person, are not watched")
    func others() throws {
        let prepare = { (logind: TestLogind) throws in
            try logind.order("session c2 \(geteuid() + 1)")
            try logind.order("session c3 \(geteuid()) background")
        }
        try withWatcher(prepare: prepare) { logind, watcher in
            for session in ["c2", "c3"] {
                try logind.order("lock \(session)")
                try logind.order("screen \(session) true")
                try logind.order("remove \(session)")
            }
            try watcher.catchUp(logind)
            #expect(watcher.locks.isEmpty)
        }
    }

    @Test("Within a session only that one is watched")
    func otherSession() throws {
        try withWatcher(sessionID: "c1", prepare: { try $0.order("session c2 \(geteuid())") }) { logind, watcher in
            try logind.order("lock c2")
            try logind.order("session c3 \(geteuid())")
            try logind.order("lock c3")
            try watcher.catchUp(logind)
            #expect(watcher.locks.isEmpty)
            try logind.order("remove c1")
            try watcher.journal.wait(for: "end")
        }
    }

    @Test("A session that begins later is watched too")
    func laterSession() throws {
        try withWatcher { logind, watcher in
            try logind.order("session c2 \(geteuid())")
            try logind.order("lock c2")
            try watcher.journal.wait(for: "lock withGrace")
        }
    }

    @Test("The end of the last session locks the keychain and ends the watcher")
    func lastSession() throws {
        try withWatcher(prepare: { try $0.order("session c2 \(geteuid())") }) { logind, watcher in
            try logind.order("remove c2")
            try watcher.catchUp(logind)
            #expect(watcher.locks.isEmpty)
            try logind.order("remove c1")
            try watcher.journal.wait(for: "end")
            #expect(watcher.locks == ["lock now"])
        }
    }

    @Test("A session whose person left while a process stays has ended")
    func closingSession() throws {
        try withWatcher(interval: .milliseconds(10)) { logind, watcher in
            try logind.order("leave c1")
            try watcher.journal.wait(for: "end")
            #expect(watcher.locks == ["lock now"])
        }
    }

    @Test("A faked signal from another program changes nothing")
    func fake() throws {
        try withWatcher { logind, watcher in
            try logind.order("fake c1")
            try watcher.catchUp(logind)
            #expect(watcher.locks.isEmpty)
            #expect(try logind.order("inhibitors") == "1")
            #expect(!watcher.journal.entries.contains { $0.hasPrefix("end") })
        }
    }

    // MARK: Sleep and shutdown

    @Test("Sleep is delayed until the keychain is locked", arguments: ["sleep", "shutdown"])
    func sleep(kind: String) throws {
        let counts = Journal()
        let count = { @Sendable (logind: TestLogind) in
            counts.write((try? logind.order("inhibitors")) ?? "no answer")
        }
        try withWatcher(whileLocking: count) { logind, watcher in
            #expect(try logind.order("inhibitors") == "1")
            try logind.order("\(kind) true")
            try watcher.journal.wait(for: "lock now")
            #expect(try logind.order("inhibitors 0") == "0")
            #expect(watcher.locks == ["lock now"])
            #expect(counts.entries == ["1"], "the inhibitor was there while the keychain was being locked")
            try logind.order("\(kind) false")
            #expect(try logind.order("inhibitors 1") == "1")
            try watcher.journal.wait(for: "renew", count: 2)
        }
    }

    // MARK: The watcher's end

    @Test("The watcher's end locks")
    func stop() throws {
        try withWatcher { _, watcher in
            try watcher.stop()
            try watcher.journal.wait(for: "end")
            #expect(watcher.locks == ["lock now"])
        }
    }

    @Test("A bus that is lost locks the keychain and ends the watcher")
    func lostBus() throws {
        try withWatcher { logind, watcher in
            logind.bus.stop()
            try watcher.journal.wait(for: "end: BusFailure")
            #expect(watcher.locks == ["lock now"])
        }
    }

    @Test("A logind that is lost locks the keychain and ends the watcher")
    func lostLogind() throws {
        try withWatcher { logind, watcher in
            logind.stop()
            try watcher.journal.wait(for: "end: BusFailure")
            #expect(watcher.locks == ["lock now"])
        }
    }

    @Test("A keychain that cannot be locked at the watcher's end is its failure")
    func failureAtEnd() throws {
        try withWatcher { _, watcher in
            watcher.store.fail(with: KeychainError(.inputOutput, message: "the disk is gone"))
            try watcher.stop()
            try watcher.journal.wait(for: "end: KeychainError")
        }
    }

    // MARK: The keychain

    @Test("The lease is renewed at once and with every tick")
    func lease() throws {
        try withWatcher(interval: .milliseconds(10)) { _, watcher in
            #expect(watcher.journal.entries.first == "renew")
            try watcher.journal.wait(for: "renew", count: 4)
        }
    }

    @Test(
        "A keychain without a passcode, and one that is not there, are reported once",
        arguments: [KeychainError.Code.noPasscode, .itemNotFound])
    func nothingToLock(code: KeychainError.Code) throws {
        let failure = KeychainError(code, message: "nothing there")
        try withWatcher(interval: .milliseconds(10), failure: failure) { logind, watcher in
            try logind.order("lock c1")
            try watcher.journal.wait(for: "failed: lock withGrace")
            let count = watcher.journal.entries.count { $0 == "failed: renew" }
            try watcher.journal.wait(for: "failed: renew", count: count + 2)
            let remarks = watcher.journal.entries.filter { $0.contains("nothing there") }
            #expect(remarks == ["say: there is nothing to lock: nothing there"])
            watcher.store.fail(with: nil)
            try watcher.journal.wait(for: "renew")
            try logind.order("lock c1")
            try watcher.journal.wait(for: "lock withGrace")
        }
    }

    @Test("A lock that failed is tried again, and until it succeeds the lease is not renewed")
    func retry() throws {
        try withWatcher(interval: .milliseconds(10)) { logind, watcher in
            watcher.store.fail(with: KeychainError(.inputOutput, message: "the disk is gone"))
            try logind.order("sleep true")
            #expect(try logind.order("inhibitors 0") == "0")
            try watcher.journal.wait(for: "failed: lock now", count: 3)
            watcher.store.fail(with: nil)
            try watcher.journal.wait(for: "lock now")
            let entries = watcher.journal.entries.filter { !$0.hasPrefix("say") && !$0.hasPrefix("trouble") }
            let first = try #require(entries.firstIndex(of: "failed: lock now"))
            let success = try #require(entries.firstIndex(of: "lock now"))
            #expect(Set(entries[first..<success]) == ["failed: lock now"])
        }
    }

    @Test("A trouble with the lease is reported once")
    func leaseTrouble() throws {
        let failure = KeychainError(.inputOutput, message: "the disk is gone")
        try withWatcher(interval: .milliseconds(10), failure: failure) { _, watcher in
            try watcher.journal.wait(for: "failed: renew", count: 4)
            #expect(watcher.journal.entries.count { $0.hasPrefix("trouble") } == 1)
            watcher.store.fail(with: nil)
        }
    }
}
