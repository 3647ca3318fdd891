internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel

extension KeyStore {
    /// Brings the keys that the passcode protects into reach.
    ///
    /// - Parameter isPairLost: Passed to ``completeConsent(of:_:isLost:)``.
    /// - Throws: `.noPasscode`, `.authenticationFailed` for a wrong passcode and while the caller has to wait, or
    ///   `.interactionNotAllowed` if the store was locked while the passcode was being checked.
    package func unlock(_ passcode: SecretBytes, isPairLost: () throws -> Bool) throws {
        try Passcode.check(passcode)
        try withStoreLock {
            var bag = try requirePasscode()
            let moment = try moment()
            let (keys, passcodeKey) = try open(bag, with: passcode)
            let isNew = try completeConsent(of: &bag, passcodeKey, isLost: isPairLost)
            let isDone =
                try isNew
                ? replace(&bag, keys, passcodeKey: passcodeKey, asOf: moment) : publish(keys, bag, asOf: moment)
            guard isDone else {
                throw KeychainError(
                    .interactionNotAllowed, message: "the keychain was locked while the passcode was being checked")
            }
        }
        forgetSnapshot()
    }

    /// Takes the keys of the "when unlocked" tier from every process. A lock with grace tells the listeners before.
    ///
    /// - Throws: `.noPasscode`, since only a passcode could bring the keys back.
    package func lock(_ request: LockRequest) throws(KeychainError) {
        // A lock by another process that came meanwhile is enough, and keys that were unlocked after it stay.
        if request == .withGrace && giveNotice() { return }
        try takeKeys(request)
    }

    private func takeKeys(_ request: LockRequest) throws(KeychainError) {
        // The keys go first, even if the files are damaged or in use.
        let now = configuration.clock.sinceBoot
        let tiers = request == .now ? KeyTier.endingWithLock : [.whenUnlocked]
        let wereUnlocked = removeBlobs(of: tiers)
        held.release(tiers)
        let snapshot = request == .now ? nil : try? begin().snapshot
        // Another lock may have taken them first, and is about to write its time.
        if !wereUnlocked, state.read()?.isLocked == false, let snapshot { _ = try? settledInactiveKeys(snapshot) }
        forgetSnapshot()
        let bag = Result { () throws(KeychainError) in try requirePasscode() }
        func take(_ record: inout LockRecord) {
            // The keys go once more, now that no unlock and no change of the keybag can be under way.
            let wereUnlocked = removeBlobs(of: tiers) || wereUnlocked
            held.release(tiers)
            let inactive = snapshot.flatMap { try? inactiveKeys($0, record, wereUnlocked: wereUnlocked) }
            record.lock(graceEnd: request == .now ? 0 : now + LockRecord.graceLength)
            if let snapshot {
                keep(inactive ?? .gone, snapshot, record, now)
            } else {
                removeBlobs(of: [.whenUserInactive])
            }
        }
        // The lock is written even without a passcode: an older keybag may have been put back.
        let outcome = Result { () throws(KeychainError) in try state.lock(take) }
        if case .failure = outcome {
            // Nothing else would end the time after this lock.
            removeBlobs(of: KeyTier.endingWithLock)
            held.release(KeyTier.endingWithLock)
        }
        _ = try bag.get()
        try outcome.get()
    }

    /// Promises that a watcher will be present for the next minute. Keys that have gone unused for too long are locked
    /// away.
    func renewLease() throws(KeychainError) {
        let bag = try keybagFile.load(deviceKey: deviceKey, expecting: storeID)
        let limit = bag.passcode == nil ? nil : bag.policy.idleLimit
        let now = configuration.clock.sinceBoot
        var isIdle = false
        try state.update { record throws(KeychainError) in
            // An absence of the watcher locked the keychain, although no process wrote that down.
            isIdle = !record.isLocked && (record.isIdle(limit: limit, now: now) || record.isWatcherGone(now: now))
            if record.isWatcherGone(now: now) {
                removeBlobs(of: [.whenUserInactive])
                held.release([.whenUserInactive])
            }
            record.watchedUntil = now + LockRecord.leaseLength
            // A lock that came from another user namespace did not reach this keyring.
            if hasMissedBlobs(bag, record) { removeBlobs(of: KeyTier.endingWithLock) }
            if !isIdle { setLifetimes(bag, record, now) }
        }
        // No process can read any more, so there is nothing to give notice of.
        if isIdle { try takeKeys(.withGrace) }
    }

    func status() throws(KeychainError) -> LockStatus {
        let session = try begin()
        let bag = session.snapshot.bag
        let record = state.read() ?? LockRecord()
        let now = configuration.clock.sinceBoot
        let failed = try attempts.status()
        let present = try lockState(session)
        return LockStatus(
            state: present, hasPasscode: bag.passcode != nil,
            keyPlace: keyPlace, isWatched: isWatchedHere || record.isWatched(now),
            idleLimit: bag.policy.idleLimit, erasesAfterTenFailures: bag.policy.erasesAfterTenFailures,
            failedAttempts: failed.failures, secondsUntilNextAttempt: failed.wait, isRekeying: bag.isRekeying,
            epoch: record.epoch, isLocking: record.isLocking(now), isWithinGrace: record.isWithinGrace(now),
            timeAfterLock: bag.policy.secondsAfterLock,
            timeLeftAfterLock: present == .locked ? try timeLeftAfterLock(session.snapshot) : nil)
    }

    private var keyPlace: LockStatus.KeyPlace {
        if configuration.host.isDaemon { return .daemon }
        return keyring == nil ? .process : .keyring
    }

    /// Locks the keys that this process holds if they have gone unused for too long, or the watcher is gone; announces
    /// the lock shortly before. Never waits for listeners.
    ///
    /// - Returns: the time until the next look, if nothing happens before; nil if nothing will be due.
    func lockIfDue() throws(KeychainError) -> Duration? {
        let bag = try begin().snapshot.bag
        let limit = bag.policy.idleLimit
        guard bag.passcode != nil else { return nil }
        guard let end = held.end(idleLimit: limit) else {
            try tellOfErasedKeys()
            return held.whenUserInactive(bag)?.timeLeft.map { .nanoseconds(Int64(clamping: $0) + 1_000_000) }
        }
        let now = configuration.clock.sinceBoot
        guard end >= now else {
            try takeKeys(.withGrace)
            return nil
        }
        let notice = LockRecord.noticeLength(idleLimit: limit)
        let isTime = end - now <= notice
        if isTime { announce(until: end) }
        return .nanoseconds(Int64(clamping: end - now - (isTime ? 0 : notice) + 1_000_000))
    }

    /// Begins an epoch if a caller met keys that were due, which erased them silently. The erasure is no lock: an
    /// unlock that is under way holds.
    private func tellOfErasedKeys() throws(KeychainError) {
        guard held.takeErasure() else { return }
        try state.update { $0.epoch &+= 1 }
        forgetSnapshot()
    }

    /// Reads the state without counting as a use of the keys.
    private func lockState(_ session: KeySession) throws(KeychainError) -> LockState {
        guard session.snapshot.afterFirstUnlock != nil else { return .neverUnlocked }
        return try available(session.snapshot) == nil ? .locked : .unlocked
    }

    // MARK: Opening

    func requirePasscode() throws(KeychainError) -> Keybag {
        let bag = try keybagFile.load(deviceKey: deviceKey, expecting: storeID)
        guard bag.passcode != nil else { throw .neverLocked }
        return bag
    }

    /// Opens all keys with a passcode, which counts as an attempt.
    func open(
        _ bag: Keybag, with passcode: SecretBytes
    ) throws(KeychainError) -> (keys: StoreKeys, passcodeKey: KeyMaterial) {
        try Passcode.check(passcode)
        let outcome = try attempts.attempt { () throws(KeychainError) in
            let derived = try PasscodeKey(passcode, bag.passcode!, storeID: storeID, deviceKey: deviceKey)
            do throws(KeychainError) {
                let keys = try KeybagFile.usable { () throws(KeychainError) in
                    try bag.unwrap(deviceKey: deviceKey, passcodeKey: derived.key)
                }
                return (derived.fingerprint, (keys: keys, passcodeKey: derived.key))
            } catch  where error.code == .authenticationFailed {
                return (derived.fingerprint, nil)
            }
        }
        switch outcome {
        case .right(let result):
            return result
        case .wrong(let error, let mayErase):
            if mayErase && bag.policy.erasesAfterTenFailures { throw try erase(bag) }
            throw error
        }
    }
}
