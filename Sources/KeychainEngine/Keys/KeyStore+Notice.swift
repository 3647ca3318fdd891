internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// The notice before a lock, for those who listen: until nobody does any more, for three seconds at most, the keys stay.
extension KeyStore {
    /// How soon whoever locks sees that nobody listens any more, in microseconds.
    private static let pause: UInt32 = 5_000

    /// Announces a lock and waits for those who listen.
    ///
    /// - Returns: whether somebody else has locked the store since.
    func giveNotice() -> Bool {
        // What waits reads the file that what announces writes.
        state.reopen()
        guard let announced = announce(until: nil) else { return false }
        func wasLocked() -> Bool { state.read().map { $0.lockedAt != announced.lockedAt } ?? false }
        while announced.isNoticeRunning(configuration.clock.sinceBoot), state.hasListeners, !wasLocked() {
            usleep(Self.pause)
        }
        return wasLocked()
    }

    /// Announces, shortly before, that the keys will have gone unused for too long. From then on using them puts nothing
    /// off: what was announced comes.
    ///
    /// To be called now and then by those who listen: in the embedded host nobody else looks at the right moment, and
    /// the kernel says nothing when it takes the keys.
    func announceDisuse() throws(KeychainError) {
        let bag = try begin().snapshot.bag
        guard bag.passcode != nil, let limit = bag.policy.idleLimit, let record = state.read() else { return }
        let now = configuration.clock.sinceBoot
        let end = record.idleEnd(limit: limit)
        guard end > now, end - now <= LockRecord.noticeLength(idleLimit: limit), !record.isLocking(now) else { return }
        _ = announce(until: end)
    }

    /// - Parameter end: When the keys go at the latest; nil: when the longest notice is over.
    /// - Returns: the record with the announcement, which may have been there already; nil: nobody is to be told, or can
    ///   be.
    @discardableResult
    func announce(until end: UInt64?) -> LockRecord? {
        guard state.hasListeners else { return nil }
        var announced: LockRecord?
        do throws(KeychainError) {
            let bag = try requirePasscode()
            // A program that was stopped with the record in its hands keeps nobody from locking.
            try state.update(
                within: LockRecord.patience,
                { record throws(KeychainError) in
                    let now = configuration.clock.sinceBoot
                    guard hasKeysToTake(bag, record, now) else { return }
                    if !record.isLocking(now) {
                        record.lockingUntil = end ?? now + LockRecord.noticeLength
                        record.epoch &+= 1
                    }
                    announced = record
                }, then: {})
        } catch {
            // The keys go all the same, and the lock says what is wrong.
            return nil
        }
        return announced
    }

    /// Whether there is anything left that could be read in time.
    private func hasKeysToTake(_ bag: Keybag, _ record: LockRecord, _ now: UInt64) -> Bool {
        let limit = bag.policy.idleLimit
        guard !record.isLocked, !record.isIdle(limit: limit, now: now) else { return false }
        if let keyring { return keyring.find(blobName(.whenUnlocked, bagGeneration: bag.generation)) != nil }
        // Where each process has its own, it may be another one that has them.
        return state.isShared || held.whenUnlocked(idleLimit: limit) != nil
    }
}
