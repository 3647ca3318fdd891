internal import KeychainCrypto
internal import KeychainModel

/// The notice before a lock: the keys stay until no process listens any more, for three seconds at most.
extension KeyStore {
    /// The pause between two looks for listeners.
    private static let pause = Duration.milliseconds(5)

    /// Announces a lock and waits for the listeners.
    ///
    /// - Returns: whether another process has locked the store since.
    func giveNotice() -> Bool {
        // The look for listeners and the announcement have to use the same file.
        state.reopen()
        guard let announced = announce(until: nil) else { return false }
        func wasLocked() -> Bool { state.read().map { $0.lockedAt != announced.lockedAt } ?? false }
        while announced.isNoticeRunning(configuration.clock.sinceBoot), state.hasListeners, !wasLocked() {
            configuration.clock.pause(Self.pause)
        }
        return wasLocked()
    }

    /// Announces, shortly before it, the lock that comes after a time without use. A use of the keys does not put off an
    /// announced lock.
    ///
    /// Listeners call this now and then: in the embedded host no other thread looks at the right moment, and the kernel
    /// takes the keys silently.
    func announceDisuse() throws(KeychainError) {
        let bag = try begin().snapshot.bag
        guard bag.passcode != nil, let limit = bag.policy.idleLimit, let record = state.read() else { return }
        let now = configuration.clock.sinceBoot
        let end = record.idleEnd(limit: limit)
        guard end > now, end - now <= LockRecord.noticeLength(idleLimit: limit), !record.isLocking(now) else { return }
        _ = announce(until: end)
    }

    /// - Parameter end: The latest time of the lock; nil: the end of the longest notice.
    /// - Returns: the record with the announcement, which may be an earlier one; nil if there is no listener, or the
    ///   record cannot be written.
    @discardableResult
    func announce(until end: UInt64?) -> LockRecord? {
        guard state.hasListeners else { return nil }
        var announced: LockRecord?
        do throws(KeychainError) {
            let bag = try requirePasscode()
            // A stopped program that holds the record keeps no other program from locking.
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
            // The keys go all the same, and the lock reports the error.
            return nil
        }
        return announced
    }

    /// Whether there are keys left that a listener could still use.
    private func hasKeysToTake(_ bag: Keybag, _ record: LockRecord, _ now: UInt64) -> Bool {
        let limit = bag.policy.idleLimit
        guard !record.isLocked, !record.isIdle(limit: limit, now: now) else { return false }
        if let keyring { return keyring.find(blobName(.whenUnlocked, bagGeneration: bag.generation)) != nil }
        // Without a keyring another process may have the keys.
        return state.isShared || held.whenUnlocked(bag.policy) != nil
    }
}
