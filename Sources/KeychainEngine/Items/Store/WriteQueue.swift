internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// Gives the right of way to a process that has waited long for its turn to write.
///
/// A process that waits for SQLite's lock looks for it now and then, with ever longer pauses. So a process that writes
/// without a pause keeps all others out: at each look it has begun anew. Therefore a process that has waited for a
/// quarter of a second locks a file, `write.lock`, and every process waits for that lock before it begins to write. The
/// kernel takes the lock from a process that ends.
///
/// The queue is a courtesy and no protection: if the file cannot be used, or is locked for too long, writers go on
/// without it.
final class WriteQueue: Sendable {
    private struct Wait {
        /// nil if no thread waits.
        var start: ContinuousClock.Instant?
        var hasRightOfWay = false
        var isPatient = true
        /// Whether another process has had the right of way for too long, and still has it.
        var wasWaitedInVain = false
    }

    private static let longWait = Duration.milliseconds(250)

    private let url: URL
    private let timeout: Duration
    private let wait = Mutex(Wait())
    /// The first write opens the file; -1 if it cannot be opened.
    private let opened: Mutex<Int32?>

    /// - Parameter isAlone: Whether no other process writes to the database, so that there is none to let pass.
    init(beside database: URL, timeout: TimeInterval, isAlone: Bool) {
        opened = Mutex(isAlone ? -1 : nil)
        url = database.deletingLastPathComponent().appendingPathComponent("write.lock")
        self.timeout = .seconds(timeout)
    }

    deinit {
        if let file = opened.withLock({ $0 }), file >= 0 { close(file) }
    }

    /// Whether a thread waits for the lock of another process.
    var isWaitedIn: Bool { wait.withLock { $0.start != nil } }

    private var file: Int32 {
        opened.withLock { opened in
            if let opened { return opened }
            let file = (try? OwnFile.make(url)) ?? -1
            opened = file
            return file
        }
    }

    /// Called before a transaction begins: waits while another process has the right of way.
    func letOthersPass() {
        let file = file
        guard file >= 0 else { return }
        // A process that did not use its right of way, perhaps because it is stopped, is not waited for again.
        let patience = wait.withLock { $0.wasWaitedInVain } ? .zero : timeout / 2
        let end = ContinuousClock.now + patience
        // The lock is shared, so that processes that only look do not keep each other waiting.
        while flock(file, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
                return wait.withLock { $0.wasWaitedInVain = true }
            }
            usleep(500)
        }
        flock(file, LOCK_UN)
        wait.withLock { $0.wasWaitedInVain = false }
    }

    /// Answers SQLite, which asks while the database is locked, whether to try again. The pause is made here.
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

    /// Called when the transaction has begun, or cannot begin.
    func leave() {
        wait.withLock { wait in
            wait.start = nil
            if wait.hasRightOfWay { flock(file, LOCK_UN) }
            wait.hasRightOfWay = false
        }
    }

    /// Runs `body` without waiting for locks of other processes.
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
