internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainClient
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
    /// The keychain waits three seconds after the announcement, for both parts of the first step.
    private static let ofAnnouncement = Duration.milliseconds(1_200)

    /// With a daemon, a call may still begin for 20 ms after the lock. In microseconds.
    private static let lateness: UInt32 = 50_000

    let volume: Volume
    let device: Device
    private let closing = Condition()

    init(volume: Volume, device: Device) {
        self.volume = volume
        self.device = device
    }

    /// Follows the keychain until the task is cancelled. A file that another program keeps locked does not hold it up.
    func follow() async {
        for await change in volume.files.protectedDataChanges {
            await BlockingCalls.shared.run {
                switch change {
                case .willBecomeUnavailable:
                    emptyCache(within: Self.ofAnnouncement)
                    sync(within: Self.ofAnnouncement)
                case .didBecomeUnavailable:
                    volume.isLocked.store(true, ordering: .relaxed)
                    close()
                case .didBecomeAvailable: volume.isLocked.store(false, ordering: .relaxed)
                }
            }
        }
        // Without a thread that tells of locks the mount has to end.
        if !Task.isCancelled { kill(getpid(), SIGTERM) }
    }

    /// The second step and the last one, when files of some class have closed.
    func close() {
        closing.withLock {
            emptyCache(within: Self.longest)
            usleep(Self.lateness)
            volume.calls.turn()
            waitForCalls()
            emptyCache(within: Self.longest)
        }
    }

    /// Waits until the calls that began before have ended.
    private func waitForCalls() {
        let end = ContinuousClock.now + Self.longest
        while volume.calls.earlier > 0, .now < end { usleep(10_000) }
    }

    /// Has the kernel give up its pages. Pages that a program has changed are written first, by the threads that answer.
    ///
    /// - Parameter isOfAll: Whether pages of all classes go, as at the end of the mount.
    func emptyCache(isOfAll: Bool = false, within limit: Duration) {
        var nodes = volume.nodes.all.filter(\.mayHavePages)
        // Files that are known to be guarded stand last in the list, and come first.
        _ = nodes.partition { node in node.use.withLock { $0.isGuarded } }
        NodeWork.run(nodes, within: limit) { node in
            if isOfAll || node.hasGuardedContent { device.forget(node.id, withPages: true) }
        }
    }

    private func sync(within limit: Duration) {
        let nodes = volume.nodes.all.filter { node in node.use.withLock { $0.isGuarded && $0.content != nil } }
        NodeWork.run(nodes, within: limit) { node in
            ckeychain_limit_lock_waits(1_000)
            // A disk that refuses is reported by the program's own fsync(2).
            try? node.content().writer().sync()
        }
    }
}

extension Node {
    fileprivate var mayHavePages: Bool { isRegular && use.withLock { $0.mayHavePages } }

    /// Whether the content is of a guarded class, which another program may have given it. A file that cannot be looked at
    /// counts as guarded.
    fileprivate var hasGuardedContent: Bool {
        if use.withLock({ $0.isGuarded }) { return true }
        guard let kind = try? kind() else { return true }
        guard case .protected(let protection, _) = kind else { return kind == .damaged }
        // A program that has it open may read on. Then its pages go when it is closed.
        if protection.isGuarded { use.withLock { $0.isGuarded = true } }
        return protection.isGuarded
    }
}
