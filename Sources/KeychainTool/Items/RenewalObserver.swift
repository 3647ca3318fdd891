internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Watches a renewal of all keys on behalf of a person: shows how far it has come, and lets the signals that come
/// meanwhile do their work between two parts of it.
///
/// To be made before the keychain is opened: see ``HeldSignals``.
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

    /// Does `body`. While it waits for its turn nothing is begun: signals do their work at once, and the person is told what
    /// is waited for.
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

    /// To be called in any case, also after a failure.
    func end() {
        line.end()
        signals.release()
    }
}

/// Says once what is waited for.
private final class WaitingNote: Sendable {
    /// A wait that is shorter is not worth a word.
    static let patience = Duration.seconds(1)

    private let isShown = Atomic(false)

    func show(_ file: URL) {
        guard !isShown.exchange(true, ordering: .relaxed) else { return }
        let holder = LockFile.holder(of: file)?.description ?? "another program"
        Console.note("waiting for \(holder), which holds \(file.path)")
    }
}
