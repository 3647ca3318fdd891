internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Unlocked keys in this process: a daemon's, and every program's if the kernel refuses keyrings.
///
/// In a program, a thread waits for the lock that any process may announce, and erases the keys then, since the next
/// call may be hours away.
final class HeldKeys: Sendable {
    private struct State {
        var afterFirstUnlock: KeySet?
        var whenUnlocked: KeySet?
        var whenUserInactive: KeySet?
        /// The time from which the end of ``whenUserInactive`` counts; nil: the keys are unlocked.
        var lockTime: UInt64?
        /// The epoch and the time of the unlock.
        var epoch: UInt64 = 0
        var time: UInt64 = 0
        var policy = PasscodePolicy()
        /// The keybag that was in place when ``whenUserInactive`` became available.
        var bagGeneration: UInt64 = 0
        var isWatching = false
        var lastNote: UInt64 = 0
        /// Whether the keys were erased because they were due, and no thread has taken note of it.
        var wereErased = false
    }

    private struct Reference: Sendable { weak var keys: HeldKeys? }
    private struct Place: Hashable {
        var storeID: UUID
        /// A path, since a URL ends with a slash only if the directory existed when it was made.
        var directory: String
    }
    private static let known = Mutex<[Place: Reference]>([:])

    /// The keys of a store in this process, whichever engine unlocked it.
    static func of(
        _ storeID: UUID, _ directory: URL, _ lockState: any LockStateKeeper, _ clock: any Clock
    ) -> HeldKeys {
        let place = Place(storeID: storeID, directory: directory.standardizedFileURL.path)
        return known.withLock { known in
            if let keys = known[place]?.keys { return keys }
            let keys = HeldKeys(lockState, clock)
            known = known.filter { $0.value.keys != nil }
            known[place] = Reference(keys: keys)
            return keys
        }
    }

    private let state = BriefLock(State())
    private let lockState: any LockStateKeeper
    private let clock: any Clock

    /// The keys of a process that has the store alone.
    init(_ lockState: any LockStateKeeper, _ clock: any Clock) {
        self.lockState = lockState
        self.clock = clock
    }

    var afterFirstUnlock: KeySet? { state.withLock { $0.afterFirstUnlock } }

    /// nil if the keys are locked away.
    func whenUnlocked(_ policy: PasscodePolicy) -> KeySet? {
        state.withLock { state in
            state.policy = policy
            judge(&state)
            return state.whenUnlocked
        }
    }

    /// The keys that outlive a lock, and the nanoseconds that are left of their time after one. nil: they are gone.
    ///
    /// - Parameter bag: The present keybag. A later one than at the unlock, which another process may have put there, ends
    ///   their time.
    func whenUserInactive(_ bag: Keybag) -> (keys: KeySet, timeLeft: UInt64?)? {
        state.withLock { state in
            state.policy = bag.policy
            if state.bagGeneration < bag.generation { state.whenUserInactive = nil }
            judge(&state)
            return state.whenUserInactive.map { ($0, timeLeft(state)) }
        }
    }

    /// - Parameter record: The record that was written when the keys became available.
    func hold(_ keys: [KeyTier: KeySet], record: LockRecord, _ bag: Keybag) {
        state.withLock { state in
            // Keys that stay are judged by their own unlock, before the state forgets it.
            if keys[.whenUnlocked] == nil { judge(&state, record) }
            if let keys = keys[.afterFirstUnlock] { state.afterFirstUnlock = keys }
            if let keys = keys[.whenUnlocked] { state.whenUnlocked = keys }
            state.whenUserInactive = keys[.whenUserInactive]
            state.lockTime = nil
            state.wereErased = false
            state.epoch = record.epoch
            state.time = clock.sinceBoot
            state.policy = bag.policy
            state.bagGeneration = bag.generation
            if state.isWatching || !lockState.isShared { return }
            // Without a thread the keys are erased at the next look alone, and the next unlock tries again.
            let start = { () throws(KeychainError) in
                try WorkerThread.start("keychain-lock") { [weak self] in HeldKeys.watch { self } }
            }
            state.isWatching = (try? start()) != nil
        }
    }

    /// The time at which the keys have to be locked because no program uses them, or because the watcher is gone. nil: no
    /// time is set, or there is no key.
    func end(idleLimit: Int?) -> UInt64? {
        state.withLock { state in
            guard state.whenUnlocked != nil else { return nil }
            return lockState.read()?.end(unlockedAt: state.time, idleLimit: idleLimit)
        }
    }

    func release(_ tiers: [KeyTier]) {
        state.withLock { state in
            if tiers.contains(.whenUnlocked) {
                state.whenUnlocked = nil
                state.wereErased = false
            }
            if tiers.contains(.whenUserInactive) { state.whenUserInactive = nil }
            if tiers.contains(.afterFirstUnlock) { state.afterFirstUnlock = nil }
        }
    }

    /// Erases the keys if they were locked away since. Without a readable record they count as locked away.
    ///
    /// - Returns: the epoch of the record.
    @discardableResult
    private func judge(_ state: inout State) -> UInt64? {
        guard let record = lockState.read() else {
            state.whenUnlocked = nil
            state.whenUserInactive = nil
            return nil
        }
        judge(&state, record)
        return record.epoch
    }

    private func judge(_ state: inout State, _ record: LockRecord) {
        let now = clock.sinceBoot
        let wasLocked = record.lockedAt > state.epoch
        let isIdle = record.isIdle(limit: state.policy.idleLimit, now: now)
        // A lower epoch belongs to another file, and a lock in the former file may have been missed.
        let areLost = record.epoch < state.epoch || record.isWatcherGone(since: state.time, now: now)
        if wasLocked || isIdle || areLost {
            if state.whenUnlocked != nil { state.wereErased = true }
            state.whenUnlocked = nil
        }
        let idleEnd = state.policy.idleLimit.map(record.idleEnd) ?? .max
        // A lock for lack of use comes some time after the end of the limit.
        if wasLocked, state.lockTime == nil { state.lockTime = record.lockTime.map { min($0, now, idleEnd) } }
        if !wasLocked, isIdle { state.lockTime = idleEnd }
        let isOver = wasLocked && record.lockTime == nil || state.lockTime != nil && timeLeft(state) == nil
        if areLost || isOver { state.whenUserInactive = nil }
    }

    /// The nanoseconds that are left of the time after a lock; nil: the keys are unlocked, or the time is over.
    private func timeLeft(_ state: State) -> UInt64? {
        state.lockTime.flatMap {
            LockRecord.timeLeft(after: $0, limit: state.policy.secondsAfterLock, now: clock.sinceBoot)
        }
    }

    /// Whether the keys were erased without a lock since the last look. True once.
    func takeErasure() -> Bool {
        state.withLock { state in
            defer { state.wereErased = false }
            return state.wereErased
        }
    }

    /// Whether to note a use of the keys, at most sixteen times within the idle limit: noting it costs two system
    /// calls.
    func shouldNoteUse(at now: UInt64, limit: Int) -> Bool {
        state.withLock { state in
            let pause = UInt64(limit) * 1_000_000_000 / 16
            guard now < state.lastNote || now - state.lastNote > pause else { return false }
            state.lastNote = now
            return true
        }
    }

    // MARK: The thread

    /// The pause between looks: no event tells that keys have gone unused for too long, or that a watcher is gone.
    private static let pause = Duration.seconds(30)

    /// Watches the keys. The thread holds the object only while it looks, so that an engine without users goes away.
    private static func watch(_ object: () -> HeldKeys?) {
        while true {
            guard let (lockState, epoch) = object()?.look() else { return }
            do throws(KeychainError) {
                _ = try lockState.waitForChange(since: epoch, timeout: pause)
            } catch {
                // No lock could be noticed any more.
                object()?.giveUp()
                return
            }
        }
    }

    /// - Returns: the keeper to wait on, and the epoch that was judged; nil if there are no keys left to watch over.
    private func look() -> (any LockStateKeeper, UInt64)? {
        lockState.reopen()
        return state.withLock { state in
            let epoch = judge(&state)
            state.isWatching = state.whenUnlocked != nil || state.whenUserInactive != nil
            return state.isWatching ? epoch.map { (lockState, $0) } : nil
        }
    }

    private func giveUp() {
        state.withLock { state in
            state.whenUnlocked = nil
            state.whenUserInactive = nil
            state.isWatching = false
        }
    }
}
