internal import KeychainModel

/// Keeps the record by which the users of a store tell each other about its lock.
protocol LockStateKeeper: AnyObject, Sendable {
    /// Whether other processes may change the record. If not, no thread has to watch for their locks.
    var isShared: Bool { get }

    /// nil if the record is not readable: the store counts as locked.
    func read() -> LockRecord?

    /// The record, which is made if there is none yet.
    func readOrMake() -> LockRecord?

    /// Called in case another keeper took this one's place.
    func reopen()

    /// Changes the record while no other process or thread does. `change` runs meanwhile.
    ///
    /// - Parameters:
    ///   - patience: The longest wait for another process that changes the record, since that process may be stopped.
    ///   - follow: Runs when the record is changed, before any other process may change it or is woken for it.
    /// - Throws: `.notAvailable` if the record cannot be kept, or the error of `change`; then nothing is changed.
    func update(
        within patience: Duration, _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void
    ) throws(KeychainError)

    /// Changes the record without waiting for its turn: a lock does that if another process holds the record for too
    /// long.
    func force(_ change: (inout LockRecord) throws(KeychainError) -> Void) throws(KeychainError)

    /// Writes one word alone, so that using a key never waits.
    func noteUse(at time: UInt64)

    /// Records a date of expiry that has passed, if it is the latest one.
    ///
    /// - Parameter date: In milliseconds since 1970.
    func noteExpired(_ date: UInt64)

    /// Waits until the record's epoch differs from `epoch`, or the time is over.
    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64

    /// Begins to listen. A lock with notice waits for the end of the listening, for as long as the lock is announced.
    func listen() throws(KeychainError) -> LockListening

    /// Whether any process listens. The answer may miss a listening that begins or ends at this moment.
    var hasListeners: Bool { get }
}

extension LockStateKeeper {
    func update(
        _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void = {}
    ) throws(KeychainError) {
        try update(within: .seconds(5), change, then: follow)
    }

    /// Writes a lock, even if another process holds the record.
    ///
    /// - Parameter take: Locks the record, and takes the keys away while no other process has the turn.
    func lock(_ take: (inout LockRecord) -> Void) throws(KeychainError) {
        do throws(KeychainError) {
            try update(within: LockRecord.patience, { record throws(KeychainError) in take(&record) }, then: {})
        } catch {
            try force { record throws(KeychainError) in
                record.epoch &+= LockRecord.forcedStep
                take(&record)
            }
        }
    }
}
