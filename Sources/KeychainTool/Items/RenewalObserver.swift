internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Watches a renewal of all keys on behalf of a person: shows its progress, and delivers signals between two parts.
///
/// Make it before the keychain is opened: see ``HeldSignals``.
struct RenewalObserver {
    private let signals = HeldSignals()
    private let line = ProgressLine("Renewing keys")

    func report(_ progress: RekeyProgress) {
        line.show(progress.done, of: progress.total)
        if progress.isFinished || !signals.arePending { return }
        line.end()
        Console.note("not all keys are renewed yet; the next 'keychainctl unlock' goes on with it")
        signals.deliver()
    }

    /// Does `body`. While `body` waits for a lock, signals take effect at once, and the person learns who has the lock.
    func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
        let signals = signals
        let note = WaitingNote()
        LockFile.isWaiting.withLock {
            $0 = { file, duration in
                if duration >= WaitingNote.patience { note.show(file) }
                if signals.arePending { signals.deliver() }
            }
        }
        defer { LockFile.isWaiting.withLock { $0 = nil } }
        return try body()
    }

    /// Call it in any case, even after a failure.
    func end() {
        line.end()
        signals.release()
    }
}

/// Tells a person once which program has the lock.
private final class WaitingNote: Sendable {
    /// A shorter wait needs no message.
    static let patience = Duration.seconds(1)

    private let isShown = Atomic(false)

    func show(_ file: URL) {
        guard !isShown.exchange(true, ordering: .relaxed) else { return }
        let holder = LockFile.holder(of: file)?.description ?? "another program"
        Console.note("waiting for \(holder), which holds \(file.path)")
    }
}
