internal import Foundation
internal import KeychainModel

/// What processes tell each other about a store's lock: the content of the file `lock-state`
/// (docs/keybag-format.md). Times are nanoseconds since the system started.
struct LockRecord: Sendable, Equatable {
    static let byteCount = 64
    private static let magic: UInt64 = 0x4C4F_434B_5354_0D0A  // "LOCKST", CR, LF

    /// Changes with every lock, unlock, announcement of a lock and change of the keybag.
    var epoch: UInt64
    /// Until then, calls that had begun before the last lock may go on.
    var graceEnd: UInt64 = 0
    /// The epoch that the last lock began.
    var lockedAt: UInt64
    /// When the keys were last used, to within a sixteenth of the idle limit.
    var lastUse: UInt64 = 0
    /// Until then a watcher has promised to be there.
    var watchedUntil: UInt64 = 0
    /// The epoch that the last unlock began.
    var unlockedAt: UInt64 = 0
    /// A lock was announced, and follows until then; 0: none was since the last lock.
    var lockingUntil: UInt64 = 0

    /// Where ``graceEnd`` and ``lockedAt`` lie, which locks alone write.
    static let offsetsOfLock = 16..<32
    /// Where ``lastUse`` lies, which is written alone.
    static let offsetOfLastUse = 32
    /// By how much a lock that does not wait for its turn is ahead of whatever has the turn.
    static let forcedStep: UInt64 = 1 << 32

    /// The first record, of a file that is new or was damaged. Its epoch is one that no process has seen, and locks
    /// whatever a process holds: a lock that was announced in the former file may have been missed.
    init() {
        epoch = UInt64.random(in: 1 << 32..<1 << 62)
        lockedAt = epoch
    }

    /// nil for bytes that are not such a record.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func word(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard bytes.count == Self.byteCount, word(0) == Self.magic, word(8) < 1 << 63, word(24) < 1 << 63 else {
            return nil
        }
        graceEnd = word(16)
        lockedAt = word(24)
        // A lock that did not wait for its turn may be ahead of what was written after it.
        epoch = max(word(8), lockedAt)
        lastUse = word(Self.offsetOfLastUse)
        watchedUntil = word(40)
        unlockedAt = word(48)
        lockingUntil = word(56)
    }

    func write(to bytes: UnsafeMutableRawBufferPointer) {
        let words = [Self.magic, epoch, graceEnd, lockedAt, lastUse, watchedUntil, unlockedAt, lockingUntil]
        for (index, word) in words.enumerated() {
            bytes.storeBytes(of: word.bigEndian, toByteOffset: index * 8, as: UInt64.self)
        }
    }
}
