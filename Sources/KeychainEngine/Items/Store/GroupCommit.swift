internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

// The writes of several threads share one transaction, and so one sync, which makes all of them durable
// (docs/decisions/017-group-commit.md).

/// The waiting writes, in the order in which they came.
struct WriteLine {
    private(set) var waiting: [QueuedWrite] = []
    private var hasLeader = false

    /// - Returns: whether no write is under way, so that this one leads.
    mutating func join(_ write: QueuedWrite) -> Bool {
        waiting.append(write)
        defer { hasLeader = true }
        return !hasLeader
    }

    mutating func takeNext() -> QueuedWrite? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// - Returns: the write that leads next.
    mutating func handOver() -> QueuedWrite? {
        hasLeader = !waiting.isEmpty
        return waiting.first
    }
}

extension ItemStore {
    /// The most writes of one transaction, so that no thread waits long for the answer to a write that is done.
    private static let mostWrites = 64

    /// Runs `body` in a transaction that it may share with writes of other threads, perhaps in another thread. Returns
    /// after the commit.
    ///
    /// A write that finds no other under way leads: its thread begins a transaction, carries out this write and those
    /// that have come meanwhile, and commits. The other threads wait, and the first write that comes during the commit
    /// leads next. Every write but the first of a transaction has a savepoint, so its failure undoes no other write.
    ///
    /// - Throws: the error of `body`, and then nothing of it is done; or the error of the transaction.
    package func write<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        var result: R?
        try withoutActuallyEscaping({ result = try body($0) }) { body in
            let write = QueuedWrite(body)
            if line.withLock({ $0.join(write) }) || write.waitForCall() == .lead { lead() }
            try write.outcome()
        }
        return result!
    }

    /// Carries out one transaction, with the caller's own write as its first.
    private func lead() {
        let present = line.withLock { $0.waiting.count }
        var taken: [QueuedWrite] = []
        let result = Result {
            try withWriter { connection in
                defer { connection.forgetLargeRows() }
                try transact(on: connection) { try performWrites(on: connection, &taken) }
                giveBackManyPages(of: connection)
            }
        }
        // If the transaction could not begin, all writes that waited for it fail.
        if taken.isEmpty { taken = (0..<present).compactMap { _ in line.withLock { $0.takeNext() } } }
        // The next leader is called first, so that the next transaction is under way while the answers are used.
        line.withLock { $0.handOver() }?.call(.lead)
        for write in taken { write.finish(result) }
    }

    /// - Throws: if nothing of the transaction can be kept.
    private func performWrites(on connection: StoreConnection, _ taken: inout [QueuedWrite]) throws {
        let end = ContinuousClock.now + longestSharedTransaction
        repeat {
            guard let write = line.withLock({ $0.takeNext() }) else { return }
            taken.append(write)
            // The first write needs no savepoint, since its failure undoes no other write.
            try taken.count == 1 ? write.perform(on: connection) : write.performInSavepoint(of: connection)
        } while taken.count < Self.mostWrites && ContinuousClock.now < end
    }
}

/// A write and the thread that waits for it.
///
/// The values that a write captures need not be safe for several threads, since one thread at a time uses them. The
/// write's own thread sleeps from ``waitForCall()`` until the leader has run the write and let go of it; the lock of
/// the condition orders the two.
final class QueuedWrite: @unchecked Sendable {
    enum Call {
        /// The thread is to begin the next transaction, with this write as the first.
        case lead
        /// The write was carried out, or failed.
        case done
    }

    /// nil after the write: the leader must not keep values that the caller takes back.
    private var body: ((StoreConnection) throws -> Void)?
    private var failure: (any Error)?
    /// Each write has a condition of its own, so that a signal wakes no other thread.
    private let condition = Condition()
    private var pendingCall: Call?

    init(_ body: @escaping (StoreConnection) throws -> Void) { self.body = body }

    // MARK: The thread that waits

    func waitForCall() -> Call {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let call = pendingCall { return call }
            condition.wait()
        }
    }

    func outcome() throws {
        if let failure { throw failure }
    }

    // MARK: The thread that leads

    func perform(on connection: StoreConnection) throws {
        do {
            try body?(connection)
            try connection.requireTransaction()
        } catch {
            failure = error
            throw error
        }
    }

    /// Undoes the write if it fails, and keeps the failure for the write's own thread.
    ///
    /// - Throws: if SQLite rolled back the whole transaction, as it does when space or memory is short, or if this
    ///   write cannot be undone otherwise.
    func performInSavepoint(of connection: StoreConnection) throws {
        do {
            try connection.statement(.savepoint).run()
            try perform(on: connection)
            try connection.statement(.releaseSavepoint).run()
        } catch {
            failure = error
            // The other writes get the database's error if there is one, and not the error of this write.
            guard connection.database.isInTransaction else {
                throw (error as? KeychainError)?.isOfDatabase == true ? error : KeychainError.abortedTransaction
            }
            try connection.statement(.rollBackToSavepoint).run()
            try connection.statement(.releaseSavepoint).run()
        }
    }

    /// - Parameter transaction: The result of the whole transaction. If it failed, this write failed too, whatever its
    ///   own result.
    func finish(_ transaction: Result<Void, any Error>) {
        body = nil
        if case .failure(let error) = transaction { failure = error }
        call(.done)
    }

    func call(_ call: Call) {
        condition.lock()
        defer { condition.unlock() }
        pendingCall = call
        condition.signal()
    }
}
