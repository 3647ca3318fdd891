import Foundation
import KeychainModel
import Synchronization

/// An engine with nothing but a lock, which a test moves.
final class FakeEngine: RequestHandler, @unchecked Sendable {  // everything is behind the condition
    private let condition = NSCondition()
    private var lock = LockStatus(
        state: .unlocked, hasPasscode: true, keyPlace: .keyring, isWatched: false, idleLimit: nil,
        erasesAfterTenFailures: false, failedAttempts: 0, secondsUntilNextAttempt: 0, isRekeying: false, epoch: 1)
    private var failure: KeychainError?
    private var renewed = 0
    private let rows = 3
    private var steps = 0

    /// How many parts of a renewal were asked for.
    var stepCount: Int { change { _ in steps } }

    @discardableResult
    func change<R>(_ body: (inout LockStatus) -> R) -> R {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return body(&lock)
    }

    /// As a lock or an unlock by any process does.
    func move(to state: LockState) {
        change {
            $0.state = state
            $0.epoch += 1
        }
    }

    /// From now on nothing works.
    func fail(with error: KeychainError) {
        change { lock in
            failure = error
            lock.epoch += 1
        }
    }

    func recover() { change { _ in failure = nil } }

    func verifyBiometry(
        for _: Caller, _: Cancellation, hint _: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket { throw .notAvailable("a lock alone") }

    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        let result = change { lock in reply(to: request, &lock) }
        return try result.get()
    }

    private func reply(to request: Request, _ lock: inout LockStatus) -> Result<Reply, KeychainError> {
        if let failure { return .failure(failure) }
        switch request {
        case .unlock, .lockStatus: return .success(.lockStatus(lock))
        case .passcode(.set), .passcode(.change(_, _, rekey: true)):
            renewed = 0
            return .success(.rekeyed(RekeyProgress(done: 0, total: rows, isFinished: false)))
        case .rekeyStep:
            steps += 1
            renewed += 1
            if renewed == rows { lock.isRekeying = false }
            return .success(.rekeyed(RekeyProgress(done: renewed, total: rows, isFinished: renewed == rows)))
        default: return .success(.done)
        }
    }

    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        condition.lock()
        defer { condition.unlock() }
        // A hundredth of a second at most, so that no test waits for long.
        if lock.epoch == epoch { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.01)) }
        if let failure { throw failure }
        return lock.epoch
    }

    /// How many listen for locks, and whether anybody may.
    private(set) var listenerCount = 0
    var refusesListeners = false

    func listenForLocks() throws(KeychainError) -> any LockListener {
        let isRefused = change { _ in
            if !refusesListeners { listenerCount += 1 }
            return refusesListeners
        }
        if isRefused { throw KeychainError(.notAvailable, message: "nobody may listen") }
        return Listener(self)
    }

    /// Waits until so many listen.
    func waitForListeners(_ count: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 60)
        return condition.withLock {
            while listenerCount != count {
                guard condition.wait(until: end) else { return false }
            }
            return true
        }
    }

    private final class Listener: LockListener {
        private let engine: FakeEngine
        private let hasEnded = Atomic(false)

        init(_ engine: FakeEngine) { self.engine = engine }

        deinit { end() }

        func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
            try engine.waitForLockChange(since: epoch, timeout: timeout)
        }

        func end() {
            if hasEnded.exchange(true, ordering: .relaxed) { return }
            engine.change { _ in engine.listenerCount -= 1 }
        }
    }

    func prepareForExit() {}
}
