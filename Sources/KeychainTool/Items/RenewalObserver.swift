internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Watches a renewal of all keys on behalf of a person: shows its progress, and delivers signals between two parts.
///
/// It is made before the keychain is opened: see ``HeldSignals``.
struct RenewalObserver {
    private let signals = HeldSignals()
    private let line = ProgressLine("Renewing keys")

    /// Does `body`, which opens the keychain and passes the progress on. While `body` waits for a lock, signals take
    /// effect at once, and the person learns who has the lock.
    static func during<R>(_ body: (@escaping (RekeyProgress) -> Void) throws -> R) rethrows -> R {
        let observer = RenewalObserver()
        let signals = observer.signals
        let note = WaitingNote()
        LockFile.isWaiting.withLock {
            $0 = { file, duration in
                if duration >= WaitingNote.patience { note.show(file) }
                if signals.arePending { signals.deliver() }
            }
        }
        defer {
            LockFile.isWaiting.withLock { $0 = nil }
            observer.line.end()
            signals.release()
        }
        return try body(observer.report)
    }

    private func report(_ progress: RekeyProgress) {
        line.show(progress.done, of: progress.total)
        if progress.isFinished || !signals.arePending { return }
        line.end()
        Console.note("not all keys are renewed yet; the next 'keychainctl unlock' goes on with it")
        signals.deliver()
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
