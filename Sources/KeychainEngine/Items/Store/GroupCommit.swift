internal import Foundation
internal import KeychainModel
internal import Synchronization

// The writes of several threads share one transaction, and with it the one sync that makes all of them durable
// (docs/decisions/017-group-commit.md).

/// The writes that wait, in the order in which they came.
struct WriteLine {
    private(set) var waiting: [QueuedWrite] = []
    private var hasLeader = false

    /// - Returns: whether nobody writes, so that this one leads.
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
    /// As many writes share one transaction at most, so that nobody waits long for the answer to a write that is done.
    private static let mostWrites = 64

    /// Runs `body` in a transaction that it may share with writes of other threads, perhaps in another thread. Returns
    /// when that is committed.
    ///
    /// A write that comes while nobody writes leads: its thread begins a transaction, carries it out and then those that
    /// have come meanwhile, and commits. The others wait, and the first of those that come during the commit leads next.
    /// Each write but the first of a transaction has a savepoint, so that its failure is its own.
    ///
    /// - Throws: what `body` throws, and then nothing of it is done; or what went wrong with the transaction.
    package func write<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        var result: R?
        try withoutActuallyEscaping({ result = try body($0) }) { body in
            let write = QueuedWrite(body)
            if line.withLock({ $0.join(write) }) || write.waitForCall() == .lead { lead() }
            try write.outcome()
        }
        return result!
    }

    /// One transaction, with the caller's own write as its first.
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
        // A transaction that did not even begin fails for all that were there to wait for it.
        if taken.isEmpty { taken = (0..<present).compactMap { _ in line.withLock { $0.takeNext() } } }
        // Before the answers, so that the next transaction is under way while they are used.
        line.withLock { $0.handOver() }?.call(.lead)
        for write in taken { write.finish(result) }
    }

    /// - Throws: if nothing of the transaction can be kept.
    private func performWrites(on connection: StoreConnection, _ taken: inout [QueuedWrite]) throws {
        let end = ContinuousClock.now + longestSharedTransaction
        repeat {
            guard let write = line.withLock({ $0.takeNext() }) else { return }
            taken.append(write)
            // Nothing came before the first one that its failure could harm.
            try taken.count == 1 ? write.perform(on: connection) : write.performInSavepoint(of: connection)
        } while taken.count < Self.mostWrites && ContinuousClock.now < end
    }
}

/// A write and the thread that waits for it.
///
/// What the write captures need not be fit for several threads: it is used by one at a time. Its own thread sleeps from
/// ``waitForCall()`` until the leader has run it and let go of it; the lock of the condition orders the two.
final class QueuedWrite: @unchecked Sendable {
    enum Call {
        /// To begin the next transaction, this write its first.
        case lead
        /// The write was carried out, or failed.
        case done
    }

    /// nil when it is done with: the leader must not keep what the caller takes back.
    private var body: ((StoreConnection) throws -> Void)?
    private var failure: (any Error)?
    /// Of its own, so that nobody is woken for another one's sake.
    private let condition = NSCondition()
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

    /// Keeps a failure to itself, once what was done until then is undone.
    ///
    /// - Throws: if SQLite rolled back the whole transaction, as it does when space or memory is short, or if that is the
    ///   only way to undo this write.
    func performInSavepoint(of connection: StoreConnection) throws {
        do {
            try connection.statement(.savepoint).run()
            try perform(on: connection)
            try connection.statement(.releaseSavepoint).run()
        } catch {
            failure = error
            // The others are told what the database said, if it did, and not what this write made of it.
            guard connection.database.isInTransaction else {
                throw (error as? KeychainError)?.isOfDatabase == true ? error : KeychainError.abortedTransaction
            }
            try connection.statement(.rollBackToSavepoint).run()
            try connection.statement(.releaseSavepoint).run()
        }
    }

    /// - Parameter transaction: What became of the whole. If it failed, so did this write, whatever it made of what the
    ///   others had done before it.
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
