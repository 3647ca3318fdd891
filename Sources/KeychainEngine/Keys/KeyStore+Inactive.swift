internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

/// The keys of the class for an inactive user, which outlive a lock by a set time.
///
/// In the kernel's keyring they carry the time of the lock by the boot clock, authenticated: the kernel's own time-out
/// follows the wall clock, which can be set.
extension KeyStore {
    enum InactiveKeys {
        /// The keys are within reach. Their end counts from the time of the lock; nil: they are unlocked.
        case open(KeySet, lockTime: UInt64?)
        /// The keys are not there, or their time is over.
        case gone
        /// Another process is about to write a lock or an unlock, or was killed while it did.
        case unsettled
    }

    /// The keys of the "when user inactive" tier; nil if they are out of reach, or no passcode is set. The call does not
    /// count as a use.
    func whenUserInactive(_ snapshot: KeySnapshot) throws(KeychainError) -> KeySet? {
        switch snapshot.whenUnlocked {
        // They come from the keys that the snapshot has.
        case .unprotected: return nil
        case .process: return held.whenUserInactive(snapshot.bag)?.keys
        case .keyring, .locked:
            guard case .open(let keys, _) = try settledInactiveKeys(snapshot) else { return nil }
            return keys
        }
    }

    /// The seconds that are left after a lock, rounded up; nil: the keys are unlocked or gone.
    func timeLeftAfterLock(_ snapshot: KeySnapshot) throws(KeychainError) -> Int? {
        var left: UInt64?
        if case .process = snapshot.whenUnlocked {
            left = held.whenUserInactive(snapshot.bag)?.timeLeft
        } else if case .open(_, let lockTime?) = try settledInactiveKeys(snapshot) {
            left = timeLeft(after: lockTime, snapshot.bag, configuration.clock.sinceBoot)
        }
        return left.map { Int(($0 + 999_999_999) / 1_000_000_000) }
    }

    private func timeLeft(after lockTime: UInt64, _ bag: Keybag, _ now: UInt64) -> UInt64? {
        LockRecord.timeLeft(after: lockTime, limit: bag.policy.secondsAfterLock, now: now)
    }

    /// The keys in the kernel's keyring. A lock or an unlock that is under way is waited for, a tenth of a second at most.
    func settledInactiveKeys(_ snapshot: KeySnapshot) throws(KeychainError) -> InactiveKeys {
        for _ in 0..<100 {
            guard let record = state.read() else { return .gone }
            let keys = try inactiveKeys(snapshot, record)
            guard case .unsettled = keys else { return keys }
            configuration.clock.pause(.milliseconds(1))
        }
        var keys = InactiveKeys.gone
        // A process that holds the record for long settles the keys itself.
        try? state.update(
            within: LockRecord.patience,
            { record throws(KeychainError) in
                keys = try inactiveKeys(snapshot, record)
                if case .unsettled = keys { removeBlobs(of: [.whenUserInactive]) }
            }, then: {})
        return keys
    }

    /// The keys in the kernel's keyring as they are at this moment.
    ///
    /// - Parameter wereUnlocked: Whether the keys of the "when unlocked" tier were there when the caller took them; nil:
    ///   no caller took them.
    func inactiveKeys(
        _ snapshot: KeySnapshot, _ record: LockRecord, wereUnlocked: Bool? = nil
    ) throws(KeychainError) -> InactiveKeys {
        let bag = snapshot.bag
        let now = configuration.clock.sinceBoot
        guard let keyring, let key = snapshot.keyringKey, !record.isWatcherGone(now: now),
            let serial = keyring.find(blobName(.whenUserInactive, bagGeneration: bag.generation))
        else { return .gone }
        let found = try keyring.read(serial, capacity: KeyringPayload.mostBytes) {
            bytes throws(KeychainError) -> InactiveKeys? in
            guard let blob = KeyringPayload(bytes).flatMap({ InactiveBlob($0.sealed) }) else { return .unsettled }
            var lockTime = blob.lockTime > 0 ? blob.lockTime : nil
            if lockTime == nil {
                if record.isLocked { return .unsettled }
                // The kernel counts in whole seconds, and may have taken the other keys already.
                if let limit = bag.policy.idleLimit, record.isIdle(limit: limit, now: now + 1_000_000_000) {
                    lockTime = min(now, record.idleEnd(limit: limit))
                } else if !(wereUnlocked ?? isThere(.whenUnlocked, bag, keyring)) {
                    return .unsettled
                }
            }
            if let lockTime, timeLeft(after: lockTime, bag, now) == nil { return .gone }
            let context = KeyringBinding.context(
                .whenUserInactive, storeID, lockedAt: record.lockedAt, boot: Self.boot, lockTime: blob.lockTime)
            return try KeySet(opening: blob.sealed, under: key, context: context).map { .open($0, lockTime: lockTime) }
                ?? .unsettled
        }
        return found ?? .gone
    }

    private func isThere(_ tier: KeyTier, _ bag: Keybag, _ keyring: KernelKeyring) -> Bool {
        keyring.find(blobName(tier, bagGeneration: bag.generation)) != nil
    }

    /// Leaves the keys in the keyring for the time after a lock. They are gone if that fails.
    ///
    /// - Parameters:
    ///   - record: The record that the lock is about to write.
    ///   - now: The time of the lock.
    func keep(_ inactive: InactiveKeys, _ snapshot: KeySnapshot, _ record: LockRecord, _ now: UInt64) {
        let bag = snapshot.bag
        var isKept = false
        if case .open(let keys, let former) = inactive, let keyring, let key = snapshot.keyringKey {
            let lockTime = former ?? now
            let context = KeyringBinding.context(
                .whenUserInactive, storeID, lockedAt: record.lockedAt, boot: Self.boot, lockTime: lockTime)
            let put = { [self] () throws(KeychainError) in
                let sealed = try keys.sealed(under: key, context: context, randomness: configuration.randomness)
                let payload = KeyringPayload.bytes(
                    of: InactiveBlob.bytes(sealed, lockTime: lockTime), in: configuration.storeDirectory)
                try keyring.put(
                    payload, as: blobName(.whenUserInactive, bagGeneration: bag.generation),
                    lifetime: lifetime(of: .whenUserInactive, bag, record, now, lockTime: lockTime))
            }
            isKept = (try? put()) != nil
        }
        removeBlobs(of: [.whenUserInactive], exceptOf: isKept ? bag.generation : nil)
    }

    /// How long the kernel keeps keys, in seconds. nil: no limit.
    ///
    /// - Parameter lockTime: The time of the lock that tier I has outlived; nil: before a lock.
    func lifetime(
        of tier: KeyTier, _ bag: Keybag, _ record: LockRecord, _ now: UInt64, lockTime: UInt64? = nil
    ) -> Int? {
        if tier == .afterFirstUnlock { return nil }
        let time = tier == .whenUserInactive ? bag.policy.secondsAfterLock : 0
        guard let lockTime else { return record.lifetime(idleLimit: bag.policy.idleLimit.map { $0 + time }, now: now) }
        let left = LockRecord.seconds(from: now, to: now + (timeLeft(after: lockTime, bag, now) ?? 0))
        return min(left, record.lifetime(idleLimit: nil, now: now) ?? left)
    }

    /// Renews the kernel's time-outs.
    func setLifetimes(_ bag: Keybag, _ record: LockRecord, _ now: UInt64) {
        guard let keyring else { return }
        for tier in KeyTier.endingWithLock {
            guard let serial = keyring.find(blobName(tier, bagGeneration: bag.generation)) else { continue }
            let lockTime = tier == .whenUserInactive ? inactiveLockTime(bag) : nil
            let former = lockTime.flatMap { $0 > 0 ? $0 : nil }
            keyring.setLifetime(of: serial, to: lifetime(of: tier, bag, record, now, lockTime: former))
        }
    }

    /// Whether the keyring has keys that a lock did not reach: one from another user namespace, or by a program that does
    /// not know tier I.
    func hasMissedBlobs(_ bag: Keybag, _ record: LockRecord) -> Bool {
        guard record.isLocked, let keyring else { return false }
        return isThere(.whenUnlocked, bag, keyring) || inactiveLockTime(bag) == 0
    }

    /// The time of the lock that the keys in the keyring claim, 0 before a lock; nil: there are none.
    private func inactiveLockTime(_ bag: Keybag) -> UInt64? {
        guard let keyring, let serial = keyring.find(blobName(.whenUserInactive, bagGeneration: bag.generation)) else {
            return nil
        }
        return try? keyring.read(serial, capacity: KeyringPayload.mostBytes) {
            KeyringPayload($0).flatMap { InactiveBlob($0.sealed) }?.lockTime
        }
    }
}

/// The sealed keys of tier I as the kernel's keyring has them: the time of the lock, and the keys.
struct InactiveBlob {
    /// Nanoseconds since the system started; 0: before a lock.
    let lockTime: UInt64
    let sealed: UnsafeRawBufferPointer

    static func bytes(_ sealed: Data, lockTime: UInt64) -> Data {
        withUnsafeBytes(of: lockTime.bigEndian) { Data($0) } + sealed
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return nil }
        lockTime = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        sealed = UnsafeRawBufferPointer(rebasing: bytes[8...])
    }
}
