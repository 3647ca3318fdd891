internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// The steps of a lock.
///
/// 1. The keychain announces the lock and waits. Programs' changes of mapped pages come to this program, are written, and
///    the disk has them.
/// 2. The keychain locks. Each call that begins now is refused, and calls in progress have ten seconds to end
///    (``ProtectedFileHandle``). The kernel gives up its pages.
/// 3. The calls have ended, and the keys are gone. The kernel gives up what such a call has still read.
///
/// A lock that cannot wait, as before the machine sleeps, begins with the second step.
struct LockSteps: Sendable {
    /// The grace of a call, and a second.
    private static let longest = Duration.seconds(11)

    let volume: Volume
    let device: Device

    /// Follows the keychain until the task is cancelled.
    func follow() async {
        for await change in volume.files.protectedDataChanges {
            switch change {
            case .willBecomeUnavailable:
                emptyCache()
                sync()
            case .didBecomeUnavailable:
                volume.isLocked.store(true, ordering: .relaxed)
                emptyCache()
                waitForCalls()
                emptyCache()
            case .didBecomeAvailable: volume.isLocked.store(false, ordering: .relaxed)
            }
        }
    }

    /// Waits until no call uses guarded content. Calls that are refused count too, for a moment.
    private func waitForCalls() {
        let end = ContinuousClock.now + Self.longest
        while volume.guardedCalls.load(ordering: .relaxed) > 0, .now < end { usleep(10_000) }
    }

    /// Has the kernel give up its pages of all guarded files. Pages that a program has changed are written first, by the
    /// threads that answer.
    private func emptyCache() {
        for node in volume.nodes.all where node.mayHaveGuardedPages { device.forget(node.id, withPages: true) }
    }

    private func sync() {
        for node in volume.nodes.all {
            // A disk that refuses is reported by the program's own fsync(2).
            if node.use.withLock({ $0.isGuarded && $0.content != nil }) { try? node.sync() }
        }
    }
}

extension Node {
    /// Whether the kernel may have pages of a guarded class. Another program may have changed the class.
    fileprivate var mayHaveGuardedPages: Bool {
        let (mayHavePages, isGuarded) = use.withLock { ($0.mayHavePages, $0.isGuarded) }
        guard isRegular, mayHavePages else { return false }
        guard !isGuarded, let file = try? reopened(O_RDONLY, keepsTime: true),
            case .protected(let protection, _) = try? ProtectedFiles.kind(of: file.number, path)
        else { return isGuarded }
        use.withLock { $0.isGuarded = protection.isGuarded }
        return protection.isGuarded
    }
}
