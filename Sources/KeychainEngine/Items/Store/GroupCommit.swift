internal import Foundation
internal import GRDB
internal import Synchronization

/// Lets the writes of several threads share one transaction, and with it the one sync that makes all of them durable
/// (docs/decisions/017-group-commit.md).
///
/// Whoever comes while nobody writes leads: it begins a transaction, carries out its own write and then those that have
/// come meanwhile, and commits. Whoever comes during the commit waits, and the first of those leads next. Each write
/// but the first of a transaction has a savepoint, so that its failure is its own.
final class GroupCommit: Sendable {
    /// As many writes share one transaction at most, so that nobody waits long for the answer to a write that is done.
    private static let mostWrites = 64

    private struct State {
        /// In the order in which they came. The leader's own is the first, until it is taken.
        var waiting: [QueuedWrite] = []
        var hasLeader = false
    }

    private let state = Mutex(State())
    /// No further write joins a transaction that is older: writers of other processes wait for it.
    private let longest: Duration

    init(longest: Duration) { self.longest = longest }

    /// How many writes wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `body` in a transaction that it may share with writes of other threads, perhaps in another thread. Returns
    /// when that is committed.
    ///
    /// - Parameter transact: Runs its argument in a transaction and commits, or rolls back if that throws.
    /// - Throws: what `body` throws, and then nothing of it is done; or what went wrong with the transaction.
    func write(
        _ body: (Database) throws -> Void, transact: ((Database) throws -> Void) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            let write = QueuedWrite(body)
            if enqueue(write) || write.waitForCall() == .lead { lead(transact) }
            try write.outcome()
        }
    }

    /// - Returns: whether the caller leads.
    private func enqueue(_ write: QueuedWrite) -> Bool {
        state.withLock { state in
            state.waiting.append(write)
            defer { state.hasLeader = true }
            return !state.hasLeader
        }
    }

    private func takeNext() -> QueuedWrite? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    // MARK: Leading

    /// One transaction, with the caller's own write as its first.
    private func lead(_ transact: ((Database) throws -> Void) throws -> Void) {
        let present = waitingCount
        var taken: [QueuedWrite] = []
        let result = Result { try transact { database in try performWrites(on: database, &taken) } }
        // A transaction that did not even begin fails for all that were there to wait for it.
        if taken.isEmpty { taken = (0..<present).compactMap { _ in takeNext() } }
        // Before the answers, so that the next transaction is under way while they are used.
        handOver()
        for write in taken { write.finish(result) }
    }

    /// - Throws: if nothing of the transaction can be kept.
    private func performWrites(on database: Database, _ taken: inout [QueuedWrite]) throws {
        let end = ContinuousClock.now + longest
        repeat {
            guard let write = takeNext() else { return }
            taken.append(write)
            // Nothing came before the first one that its failure could harm.
            try taken.count == 1 ? write.perform(on: database) : write.performInSavepoint(of: database)
        } while taken.count < Self.mostWrites && ContinuousClock.now < end
    }

    private func handOver() {
        let next = state.withLock { state in
            state.hasLeader = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.call(.lead)
    }
}

/// A write and the thread that waits for it.
///
/// What the write captures need not be fit for several threads: it is used by one at a time. Its own thread sleeps from
/// ``waitForCall()`` until the leader has run it and let go of it; the lock of the condition orders the two.
private final class QueuedWrite: @unchecked Sendable {
    enum Call {
        /// To begin the next transaction, this write its first.
        case lead
        /// The write was carried out, or failed.
        case done
    }

    /// nil when it is done with: the leader must not keep what the caller takes back.
    private var body: ((Database) throws -> Void)?
    private var failure: (any Error)?
    /// Of its own, so that nobody is woken for another one's sake.
    private let condition = NSCondition()
    private var pendingCall: Call?

    init(_ body: @escaping (Database) throws -> Void) { self.body = body }

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

    func perform(on database: Database) throws {
        do {
            try body?(database)
            try requireTransaction(database)
        } catch {
            failure = error
            throw error
        }
    }

    /// Keeps a failure to itself, once what was done until then is undone.
    ///
    /// - Throws: if SQLite gave up the entire transaction, as it does for want of space or memory, or if that is the
    ///   only way to undo this write.
    func performInSavepoint(of database: Database) throws {
        do {
            try database.cachedStatement(sql: "SAVEPOINT write").execute()
            try body?(database)
            try requireTransaction(database)
            try database.cachedStatement(sql: "RELEASE write").execute()
        } catch {
            failure = error
            // The others are told what the database said, if it did, and not what this write made of it.
            guard database.isInsideTransaction else { throw error.isOfDatabase ? error : Self.aborted }
            try database.cachedStatement(sql: "ROLLBACK TO write").execute()
            try database.cachedStatement(sql: "RELEASE write").execute()
        }
    }

    /// A statement outside of a transaction would be one of its own.
    private func requireTransaction(_ database: Database) throws {
        guard database.isInsideTransaction else { throw Self.aborted }
    }

    private static var aborted: DatabaseError { DatabaseError(resultCode: .SQLITE_ABORT) }

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
