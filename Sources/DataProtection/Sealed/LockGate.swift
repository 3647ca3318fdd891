internal import KeychainModel
internal import SwiftKeychain
internal import Synchronization

/// Whether files of class A may be used now, asked before each use of one that is open.
///
/// An embedded keychain is looked at each time, which takes less than a microsecond: how its lock was changed is told by a
/// number. A daemon is asked after twenty milliseconds again.
final class LockGate: Sendable {
    /// How long an answer holds where nothing tells of a change.
    static let patience = Duration.milliseconds(20)
    /// How long it holds where a number does: keys that nobody has used for long leave without it.
    private static let longPatience = Duration.milliseconds(500)

    private struct Answer {
        let epoch: UInt64?
        let time: ContinuousClock.Instant
    }
    private let keys: FileKeys
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The last yes.
    private let known = Mutex<Answer?>(nil)

    init(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.keys = keys
        self.now = now
    }

    func isOpen() -> Bool {
        let epoch = keys.connection.lockEpoch()
        let time = now()
        let patience = epoch == nil ? Self.patience : Self.longPatience
        if let answer = known.withLock({ $0 }), answer.epoch == epoch, time - answer.time < patience { return true }
        let isOpen = keys.isUnlocked()
        // The epoch from before: a lock that came meanwhile is seen with the next use.
        known.withLock { $0 = isOpen ? Answer(epoch: epoch, time: time) : nil }
        return isOpen
    }

    func require(_ path: String) throws(DataProtectionError) {
        guard !isOpen() else { return }
        throw DataProtectionError(
            .locked, path,
            "the keychain is locked: the file can be used again when it is unlocked ('keychainctl unlock')")
    }
}
