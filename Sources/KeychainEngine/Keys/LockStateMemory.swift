internal import KeychainModel
internal import KeychainSystem

/// The lock of a store that only one process opens: there are no other processes to tell.
final class LockStateMemory: LockStateKeeper {
    private let record = BriefLock(LockRecord())
    /// Held during a change, which may take as long as replacing a file.
    private let turn = Condition()
    private let signal: ChangeSignal
    private let listenerCount = BriefLock(0)

    /// - Parameter signal: Given after each change of the epoch.
    init(_ signal: ChangeSignal) { self.signal = signal }

    let isShared = false

    func read() -> LockRecord? { record.withLock { $0 } }

    func readOrMake() -> LockRecord? { read() }

    func reopen() {}  // no keeper takes its place

    /// Waits without a limit: a stop of this process stops the waiting thread too.
    func update(
        within _: Duration, _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void
    ) throws(KeychainError) {
        turn.lock()
        defer { turn.unlock() }
        var changed = record.withLock { $0 }
        try change(&changed)
        let final = changed
        record.withLock { record in
            // A use that was noted meanwhile counts.
            let lastUse = max(record.lastUse, final.lastUse)
            let latestExpiry = record.latestExpiry
            record = final
            record.lastUse = lastUse
            record.latestExpiry = max(latestExpiry, final.latestExpiry)
        }
        follow()
        signal.give()
    }

    func force(_ change: (inout LockRecord) throws(KeychainError) -> Void) throws(KeychainError) {
        try update(within: .zero, change, then: {})
    }

    func noteUse(at time: UInt64) { record.withLock { $0.lastUse = time } }

    /// Kept until the end of the process: a daemon removes the item itself soon.
    func noteExpired(_ date: UInt64) { record.withLock { $0.latestExpiry = max($0.latestExpiry, date) } }

    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        signal.wait(until: .now + timeout) { record.withLock { $0.epoch } != epoch }
        return record.withLock { $0.epoch }
    }

    func listen() throws(KeychainError) -> LockListening {
        listenerCount.withLock { $0 += 1 }
        return LockListening { [self] in listenerCount.withLock { $0 -= 1 } }
    }

    var hasListeners: Bool { listenerCount.withLock { $0 > 0 } }
}
