internal import KeychainModel
internal import SwiftKeychain

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

    /// To be called in any case, also after a failure.
    func end() {
        line.end()
        signals.release()
    }
}
