internal import Foundation
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Gives the right of way to a process that has waited long for its turn to write.
///
/// SQLite's own way of waiting, to look now and then, with ever longer pauses, whether the lock is free, lets a process
/// that writes without a pause keep all others out: by the time they look it has begun anew. So who has waited for a
/// quarter of a second locks a file, `write.lock`; and before any process begins to write it lets those pass who have it
/// locked. The kernel takes the lock from a process that ends.
///
/// It is a courtesy and no protection: where the file cannot be used, or is locked for too long, all is as without it.
final class WriteQueue: Sendable {
    private struct Wait {
        /// nil: not waiting.
        var start: ContinuousClock.Instant?
        var hasRightOfWay = false
        var isPatient = true
        /// Another process had the right of way for too long, and has it still.
        var wasWaitedInVain = false
    }

    private static let longWait = Duration.milliseconds(250)

    private let url: URL
    private let timeout: Duration
    private let wait = Mutex(Wait())
    /// Opened by the first write; -1: it cannot be.
    private let opened: Mutex<Int32?>

    /// - Parameter isAlone: Whether no other process writes to the database: then there is nobody to let pass.
    init(beside database: URL, timeout: TimeInterval, isAlone: Bool) {
        opened = Mutex(isAlone ? -1 : nil)
        url = database.deletingLastPathComponent().appendingPathComponent("write.lock")
        self.timeout = .seconds(timeout)
    }

    deinit {
        if let file = opened.withLock({ $0 }), file >= 0 { close(file) }
    }

    private var file: Int32 {
        opened.withLock { opened in
            if let opened { return opened }
            let file = (try? OwnFile.make(url)) ?? -1
            opened = file
            return file
        }
    }

    /// To be called before a transaction begins: waits while another process has the right of way.
    func letOthersPass() {
        let file = file
        guard file >= 0 else { return }
        // Whoever did not make use of it, a stopped process perhaps, is not waited for again.
        let patience = wait.withLock { $0.wasWaitedInVain } ? .zero : timeout / 2
        let end = ContinuousClock.now + patience
        // Shared, so that those who only look do not keep each other waiting.
        while flock(file, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
                return wait.withLock { $0.wasWaitedInVain = true }
            }
            usleep(500)
        }
        flock(file, LOCK_UN)
        wait.withLock { $0.wasWaitedInVain = false }
    }

    /// What SQLite asks when the database is locked: whether to try again, after a pause that is made here.
    func shouldTryAgain(tries: Int) -> Bool {
        let start = wait.withLock { wait -> ContinuousClock.Instant? in
            guard wait.isPatient else { return nil }
            if tries == 0 || wait.start == nil { wait.start = .now }
            return wait.start
        }
        guard let start else { return false }
        let waited = start.duration(to: .now)
        guard waited < timeout else { return false }
        if waited > Self.longWait { claim() }
        usleep(tries < 4 ? 500 << UInt32(tries) : 4_000)
        return true
    }

    /// To be called when the transaction has begun, or cannot.
    func leave() {
        wait.withLock { wait in
            wait.start = nil
            if wait.hasRightOfWay { flock(file, LOCK_UN) }
            wait.hasRightOfWay = false
        }
    }

    /// Runs `body`, in which a lock of another process is not waited for.
    func withoutWaiting<R>(_ body: () throws -> R) rethrows -> R {
        wait.withLock { $0.isPatient = false }
        defer { wait.withLock { $0.isPatient = true } }
        return try body()
    }

    private func claim() {
        let file = file
        guard file >= 0 else { return }
        wait.withLock { wait in
            if !wait.hasRightOfWay { wait.hasRightOfWay = flock(file, LOCK_EX | LOCK_NB) == 0 }
        }
    }
}
