internal import KeychainClient
internal import KeychainModel
internal import SealedFiles
internal import Synchronization

/// The question whether open files of a class that closes with the lock may be used now. It is asked before each use of an open file.
///
/// An embedded keychain tells by a number whether its lock has changed, so looking takes less than a microsecond. A
/// daemon is asked again after twenty milliseconds.
final class LockGate: Sendable {
    /// The time for which an answer holds if there is no number that tells of a change.
    static let patience = Duration.milliseconds(20)
    /// The time for which an answer holds if there is such a number. Keys leave without a change of it after an idle
    /// limit.
    private static let longPatience = Duration.milliseconds(500)

    private struct Answer {
        let epoch: UInt64?
        let time: ContinuousClock.Instant
    }
    private let keys: FileKeys
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The last answers that were a yes.
    private let known = Mutex<[FileClass: Answer]>([:])

    init(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.keys = keys
        self.now = now
    }

    func isOpen(for fileClass: FileClass) -> Bool {
        guard fileClass.closesWithLock else { return true }
        let epoch = keys.connection.lockEpoch()
        let time = now()
        let patience = epoch == nil ? Self.patience : Self.longPatience
        if let answer = known.withLock({ $0[fileClass] }), answer.epoch == epoch, time - answer.time < patience {
            return true
        }
        let isOpen = keys.isUnlocked(for: fileClass)
        // The number was read before the question. A lock that came in between is seen at the next use.
        known.withLock { $0[fileClass] = isOpen ? Answer(epoch: epoch, time: time) : nil }
        return isOpen
    }

    func require(_ fileClass: FileClass, _ path: String) throws(DataProtectionError) {
        guard !isOpen(for: fileClass) else { return }
        throw DataProtectionError(
            .locked, path,
            "the keychain is locked: the file can be used again when it is unlocked ('keychainctl unlock')")
    }
}
