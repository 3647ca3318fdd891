import Foundation
import KeychainModel
import Synchronization

/// An engine whose answers a test makes, and whose changes it tells of.
final class FakeEngine: ChangeSource, Sendable {
    typealias Answer = @Sendable (Request, Caller) throws(KeychainError) -> Reply

    private struct State: Sendable {
        var told: [StoreChange] = []
        var isStopped = false
        var due: Duration?
        var nextExpiry: Duration?
        var removalFailure: KeychainError?
        var lockCheckCount = 0
        var positionCount = 0
    }

    /// How much memory a request takes, asked with how much there is.
    typealias Need = @Sendable (Request, Int) -> Int

    /// Waits at a reader.
    typealias Biometry = @Sendable ((BiometryHint) -> Void) throws(BiometryFailure) -> BiometryTicket

    private let answer: Answer
    private let biometry: Biometry
    private let need: Need
    private let lockStatus: LockStatus
    private let state = Observed(State())

    convenience init(_ answer: @escaping Answer) { self.init(need: { _, _ in 0 }, answer) }

    init(
        need: @escaping Need = { _, _ in 0 }, lockStatus: LockStatus = .unlocked(epoch: 1),
        _ answer: @escaping Answer = { _, _ throws(KeychainError) in .done },
        biometry: @escaping Biometry = { _ throws(BiometryFailure) in throw .notAvailable("requests alone") }
    ) {
        self.lockStatus = lockStatus
        self.need = need
        self.answer = answer
        self.biometry = biometry
    }

    func handle(_ request: Request, from caller: Caller, mostBytes: Int) throws(KeychainError) -> Reply {
        let count = need(request, mostBytes)
        guard count <= mostBytes else {
            throw KeychainError(.dataTooLarge, message: "too little memory", signal: .needsMemory(count))
        }
        return try handle(request, from: caller)
    }

    func verifyBiometry(
        for _: Caller, _: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket { try biometry(hint) }

    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        if case .lockStatus = request { return .lockStatus(lockStatus) }
        return try answer(request, caller)
    }

    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 { epoch }

    func prepareForExit() {}

    /// How many listen for locks.
    let listenerCount = Observed(0)

    func listenForLocks() throws(KeychainError) -> any LockListener { Listener(listenerCount) }

    private final class Listener: LockListener {
        private let count: Observed<Int>
        private let hasEnded = Atomic(false)

        init(_ count: Observed<Int>) {
            self.count = count
            count.update { $0 += 1 }
        }

        deinit { end() }

        func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 { epoch }

        func end() {
            if hasEnded.exchange(true, ordering: .relaxed) { return }
            count.update { $0 -= 1 }
        }
    }

    // MARK: Changes

    func tell(_ changes: StoreChange...) { state.update { $0.told += changes } }

    /// When the housekeeper is to look again.
    func set(due: Duration?) { state.update { $0.due = due } }

    /// From now on, what the removal of expired items ends with.
    func failRemoval(with failure: KeychainError?) { state.update { $0.removalFailure = failure } }

    /// When the next item expires.
    func set(nextExpiry: Duration?) { state.update { $0.nextExpiry = nextExpiry } }

    /// How often it has looked.
    var lockCheckCount: Int { state.value.lockCheckCount }

    /// Waits until it has looked that often.
    func waitForLockChecks(_ count: Int) -> Bool { state.wait { $0.lockCheckCount >= count } }

    /// How often the housekeeper has begun.
    var positionCount: Int { state.value.positionCount }

    func position() throws(KeychainError) -> ChangePosition {
        state.update { $0.positionCount += 1 }
        return position(in: state.value)
    }

    private func position(in state: State) -> ChangePosition {
        ChangePosition(epoch: 1, revision: UInt64(state.told.count))
    }

    func waitForChange(
        after position: ChangePosition, timeout: Duration?
    ) throws(KeychainError) -> ChangePosition {
        state.wait(for: timeout) { $0.isStopped || $0.told.count > position.revision }
        return self.position(in: state.value)
    }

    func stopWaiting() { state.update { $0.isStopped = true } }

    func changes(
        after position: ChangePosition, for caller: Caller
    ) throws(KeychainError) -> (changes: [StoreChange], position: ChangePosition) {
        let present = state.value
        let changes = present.told[Int(position.revision)...].filter { change in
            guard case .items(_, let group) = change else { return true }
            return caller.groups.containsGroup(group)
        }
        return (changes, self.position(in: present))
    }

    func lockIfDue() throws(KeychainError) -> Duration? {
        state.update { $0.lockCheckCount += 1 }
        return state.value.due
    }

    func removeExpiredIfDue() throws(KeychainError) -> Duration? {
        if let failure = state.value.removalFailure { throw failure }
        return state.value.nextExpiry
    }

    func setWatched(_ isWatched: Bool) {}
}

extension LockStatus {
    static func unlocked(epoch: UInt64, hasPasscode: Bool = true) -> LockStatus {
        LockStatus(
            state: .unlocked, hasPasscode: hasPasscode, keyPlace: .process, isWatched: false, idleLimit: nil,
            erasesAfterTenFailures: false, failedAttempts: 0, secondsUntilNextAttempt: 0, isRekeying: false,
            epoch: epoch)
    }
}
