internal import KeychainModel

/// The content of the file `lock-state`, by which processes tell each other about a store's lock
/// (docs/keybag-format.md). Times are nanoseconds since the system started.
package struct LockRecord: Sendable, Equatable {
    static let byteCount = 80
    private static let magic: UInt64 = 0x4C4F_434B_5354_0D0A  // "LOCKST", CR, LF

    /// A number that changes with every lock, unlock, announcement of a lock and change of the keybag.
    var epoch: UInt64
    /// The time until which calls that began before the last lock may go on.
    var graceEnd: UInt64 = 0
    /// The epoch that the last lock began.
    package var lockedAt: UInt64
    /// The time of the last use of the keys, to within a sixteenth of the idle limit.
    var lastUse: UInt64 = 0
    /// The time until which a watcher has promised to be present.
    var watchedUntil: UInt64 = 0
    /// The epoch that the last unlock began.
    var unlockedAt: UInt64 = 0
    /// The latest time of an announced lock; 0 if none was announced since the last lock.
    var lockingUntil: UInt64 = 0
    /// The latest date of expiry that was seen to have passed, in milliseconds since 1970: a clock that is set back
    /// does not bring the item back.
    var latestExpiry: UInt64 = 0

    /// The place of ``graceEnd`` and ``lockedAt``, which only locks write.
    static let offsetsOfLock = 16..<32
    /// The place of ``lastUse``, which is written alone.
    static let offsetOfLastUse = 32
    /// The place of ``latestExpiry``, which is written alone.
    static let offsetOfExpiry = 64
    /// The number of epochs by which a lock that does not wait for its turn is ahead of a change under way.
    static let forcedStep: UInt64 = 1 << 32

    /// The first record of a new or damaged file. Its epoch is one that no process has seen, and locks the keys that
    /// any process holds: a lock that was announced in the former file may have been missed.
    init() {
        epoch = UInt64.random(in: 1 << 32..<1 << 62)
        lockedAt = epoch
    }

    /// nil if the bytes are no record.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func word(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard bytes.count == Self.byteCount, word(0) == Self.magic, word(8) < 1 << 63, word(24) < 1 << 63 else {
            return nil
        }
        graceEnd = word(16)
        lockedAt = word(24)
        // A lock that did not wait for its turn may be ahead of a later change.
        epoch = max(word(8), lockedAt)
        lastUse = word(Self.offsetOfLastUse)
        watchedUntil = word(40)
        unlockedAt = word(48)
        lockingUntil = word(56)
        // The complement is stored too: damage to one of them must not make an item expire.
        latestExpiry = word(72) == ~word(64) ? word(64) : 0
    }

    func write(to bytes: UnsafeMutableRawBufferPointer) {
        let words =
            [Self.magic, epoch, graceEnd, lockedAt, lastUse, watchedUntil, unlockedAt, lockingUntil]
            + expiryWords
        for (index, word) in words.enumerated() {
            bytes.storeBytes(of: word.bigEndian, toByteOffset: index * 8, as: UInt64.self)
        }
    }

    var expiryWords: [UInt64] { [latestExpiry, ~latestExpiry] }
}

// MARK: - Locks and unlocks

extension LockRecord {
    /// How long calls in progress may go on after a lock.
    static let graceLength = LockStatus.graceLength.inNanoseconds
    /// How long a lock waits for its turn.
    static let patience = Duration.milliseconds(100)

    /// Whether the last lock came after the last unlock.
    var isLocked: Bool { lockedAt > unlockedAt }

    func isWithinGrace(_ now: UInt64) -> Bool { graceEnd > now && graceEnd - now <= Self.graceLength }

    /// A second lock gives no more time than the first.
    mutating func lock(graceEnd end: UInt64) {
        graceEnd = isLocked ? min(graceEnd, end) : end
        epoch &+= 1
        lockedAt = epoch
        lockingUntil = 0
    }

    /// Begins the epoch of an unlock. A watcher that is gone locks keys that were unlocked before it went, and none
    /// after.
    mutating func unlock(_ now: UInt64) {
        epoch &+= 1
        unlockedAt = epoch
        lastUse = now
        if !isWatched(now) { watchedUntil = 0 }
    }
}

// MARK: - The time after a lock

extension LockRecord {
    /// The time of the lock from which the time after it counts: of the first lock since the last unlock. nil: there was
    /// a lock at once, which gives no time.
    var lockTime: UInt64? { graceEnd == 0 ? nil : graceEnd &- Self.graceLength }

    /// The nanoseconds that are left of the time after a lock; nil: it is over.
    static func timeLeft(after lockTime: UInt64, limit: Int, now: UInt64) -> UInt64? {
        let length = Duration.seconds(limit).inNanoseconds
        return lockTime <= now && now - lockTime < length ? length - (now - lockTime) : nil
    }
}

// MARK: - Watchers

extension LockRecord {
    /// The length of a watcher's promise; the watcher renews it three times as often.
    static let leaseLength = Duration.seconds(60).inNanoseconds

    func isWatched(_ now: UInt64) -> Bool { watchedUntil > now && watchedUntil - now <= Self.leaseLength }

    /// Whether a watcher's promise since the last unlock is over. An unlock forgets earlier promises.
    func isWatcherGone(now: UInt64) -> Bool { watchedUntil > 0 && watchedUntil < now }

    /// Whether a watcher's promise after the keys were unlocked is over.
    func isWatcherGone(since unlock: UInt64, now: UInt64) -> Bool { watchedUntil > unlock && watchedUntil < now }
}

// MARK: - Disuse

extension LockRecord {
    /// Whether the keys have gone unused for that long.
    func isIdle(limit: Int?, now: UInt64) -> Bool {
        guard let limit else { return false }
        return now > lastUse && now - lastUse > Duration.seconds(limit).inNanoseconds
    }

    /// The time at which the keys will have gone unused for that long.
    func idleEnd(limit: Int) -> UInt64 { lastUse &+ Duration.seconds(limit).inNanoseconds }

    /// The time at which keys that were unlocked at `time` will have gone unused for too long, or a watcher that has
    /// promised since to be present will be overdue; nil: never.
    func end(unlockedAt time: UInt64, idleLimit: Int?) -> UInt64? {
        [idleLimit.map(idleEnd), watchedUntil > time ? watchedUntil : nil].compactMap(\.self).min()
    }

    /// How long the kernel keeps the keys, in seconds: as long as the watcher promised to be present, and no longer
    /// than they may go unused. nil: no limit.
    func lifetime(idleLimit: Int?, now: UInt64) -> Int? {
        let idle = idleLimit.map { Self.seconds(from: now, to: idleEnd(limit: $0)) }
        let watched = isWatched(now) ? Self.seconds(from: now, to: watchedUntil) : nil
        return [idle, watched].compactMap(\.self).min()
    }

    /// At least one second: zero would mean for ever.
    static func seconds(from now: UInt64, to end: UInt64) -> Int {
        max(1, end > now ? Int(clamping: (end - now) / 1_000_000_000) : 0)
    }
}

// MARK: - Notices

extension LockRecord {
    /// The longest time between an announcement and its lock.
    static let noticeLength = LockStatus.noticeLength.inNanoseconds
    /// How long after the announced time a lock may still be written.
    private static let leeway = Duration.seconds(1).inNanoseconds

    /// How long before the end of the idle limit the lock is announced. Later uses do not count any more.
    static func noticeLength(idleLimit: Int?) -> UInt64 {
        idleLimit.map { min(noticeLength, Duration.seconds($0).inNanoseconds / 4) } ?? noticeLength
    }

    /// Whether a lock was announced and has not come yet. An announced lock never comes if its process was killed.
    func isLocking(_ now: UInt64) -> Bool {
        !isLocked && lockingUntil > 0 && now < lockingUntil &+ Self.leeway
            && lockingUntil <= now &+ Self.noticeLength
    }

    /// Whether listeners have time left.
    func isNoticeRunning(_ now: UInt64) -> Bool { isLocking(now) && now < lockingUntil }
}

extension Duration {
    fileprivate var inNanoseconds: UInt64 { UInt64(self / .nanoseconds(1)) }
}
