internal import KeychainModel

/// Keeps what those who use a store tell each other about its lock.
protocol LockStateKeeper: AnyObject, Sendable {
    /// Whether other processes may change it. If not, nobody has to look after keys that they may have locked.
    var isShared: Bool { get }

    /// nil: nobody can tell, and the store counts as locked.
    func read() -> LockRecord?

    /// The same, with a first record if there is none yet.
    func readOrMake() -> LockRecord?

    /// For the case that another keeper took this one's place.
    func reopen()

    /// Changes the record while nobody else does, and runs `change` meanwhile.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for another process that changes it, which may have been stopped.
    ///   - follow: Run when the record is changed, and before anybody else may change it or is woken for it.
    /// - Throws: `.notAvailable` if it cannot be kept, or what `change` throws; then nothing is changed.
    func update(
        within patience: Duration, _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void
    ) throws(KeychainError)

    /// Changes the record without waiting for its turn. For a lock, when another process holds the record for too long.
    func force(_ change: (inout LockRecord) throws(KeychainError) -> Void) throws(KeychainError)

    /// One word alone, so that using a key does not wait for anybody.
    func noteUse(at time: UInt64)

    /// Keeps a date of expiry that has passed, if it is the latest one.
    ///
    /// - Parameter date: In milliseconds since 1970.
    func noteExpired(_ date: UInt64)

    /// Waits until the record has another epoch than `epoch`, or the time is over.
    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64

    /// Whoever locks with notice waits for the end of this, for as long as it is announced.
    func listen() throws(KeychainError) -> LockListening

    /// Whether anybody does, in whatever process. Not certain of those who begin or end just now.
    var hasListeners: Bool { get }
}

extension LockStateKeeper {
    func update(
        _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void = {}
    ) throws(KeychainError) {
        try update(within: .seconds(5), change, then: follow)
    }

    /// Writes a lock, which comes also if somebody holds the record.
    ///
    /// - Parameter take: Locks the record, and takes the keys away when nobody else has the turn.
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
