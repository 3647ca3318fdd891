package import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Tells of a keychain's lock, on a thread of its own.
///
/// Waiting for a change blocks, and the threads that run tasks must not be blocked. Work in tasks must not keep a lock
/// from being told of, either. A notice before a lock waits for its receivers, so each kind of event has a feed of its
/// own.
package final class LockFeed: Sendable {
    private let isOver = Atomic(false)

    private init() {}

    /// Tells of each lock from now on, and of classes that close later.
    ///
    /// - Parameter tell: Called on the thread. While the state cannot be found out, as when a daemon has ended, all such
    ///   classes are told with each look, every second.
    package convenience init(_ connection: Connection, _ tell: @escaping @Sendable (ClosedClasses) -> Void) {
        self.init()
        let lost = ClosedClasses(classes: FileClass.allCases.filter(\.closesWithLock), epoch: nil)
        let follower = LockStateFollower(connection, lost: lost, tellsEachLoss: true) {
            ClosedClasses(classes: $0.closedClasses, epoch: $0.epoch)
        }
        start(follower) { if !$0.classes.isEmpty { tell($0) } }
    }

    /// A stream of the events from now on. It ends when the follower does not go on.
    ///
    /// - Parameter pause: The time from a look that failed to the next one.
    package static func stream<Follower: LockFollower, Event>(
        by follower: Follower, pause: Duration = .lockFeedPause,
        as event: @escaping @Sendable (Follower.Event) -> Event
    ) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let feed = LockFeed()
        continuation.onTermination = { _ in feed.end() }
        feed.start(follower, pause: pause, { continuation.yield(event($0)) }) { continuation.finish() }
        return stream
    }

    /// Nothing is told from now on, but for a call that is under way. The thread ends within a second.
    package func end() { isOver.store(true, ordering: .relaxed) }

    /// Whether nothing is told any more, since it was ended, or since the user may have no more threads.
    package var hasEnded: Bool { isOver.load(ordering: .relaxed) }

    private func start<Follower: LockFollower>(
        _ follower: Follower, pause: Duration = .lockFeedPause, _ tell: @escaping @Sendable (Follower.Event) -> Void,
        whenOver: @escaping @Sendable () -> Void = {}
    ) {
        let start = { () throws(KeychainError) in
            try WorkerThread.startForProgram("keychain lock") { [self] in
                run(follower, pause, tell)
                whenOver()
            }
        }
        if (try? start()) != nil { return }
        end()
        follower.end()
        whenOver()
    }

    private func run<Follower: LockFollower>(
        _ follower: Follower, _ pause: Duration, _ tell: (Follower.Event) -> Void
    ) {
        defer { follower.end() }
        func tellUnlessOver(_ event: Follower.Event) { if !isOver.load(ordering: .relaxed) { tell(event) } }
        while !isOver.load(ordering: .relaxed) {
            do throws(KeychainError) {
                try follower.look(tellUnlessOver)
            } catch {
                guard follower.goesOn(after: error, tellUnlessOver) else { return }
                WorkerThread.sleep(for: pause)
            }
        }
    }
}

/// The classes whose open files are closed. Two locks differ in their epochs: files may have been used in between.
package struct ClosedClasses: Sendable, Equatable {
    package let classes: [FileClass]
    /// nil: the state could not be found out.
    package let epoch: UInt64?
}

/// Follows a keychain's lock, or its items. It is made on the thread of the program that wants to know, so that nothing is
/// missed that happens after that. Then it belongs to one thread, which it may block.
package protocol LockFollower: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Waits for a moment, and tells the events.
    func look(_ tell: (Event) -> Void) throws(KeychainError)

    /// The keychain could not be looked at. Tells what that means.
    ///
    /// - Returns: Whether to look again.
    func goesOn(after error: KeychainError, _ tell: (Event) -> Void) -> Bool

    /// Called when no event will be told any more.
    func end()
}

extension Duration {
    /// The most that a feed's thread outlives its listeners, and that an expired key goes unnoticed.
    package static let lockFeedPause = Duration.seconds(1)
}

/// Tells each change of a fact of the lock when it has happened.
final class LockStateFollower<Event: Sendable & Equatable>: LockFollower, @unchecked Sendable {  // one thread has it
    private let connection: Connection
    private let lost: Event
    private let tellsEachLoss: Bool
    private let fact: @Sendable (LockStatus) -> Event
    private var epoch: UInt64
    /// nil: it could not be looked at from the beginning.
    private var state: Event?

    /// - Parameters:
    ///   - lost: The event of a keychain that cannot be looked at.
    ///   - tellsEachLoss: Tells it with each look that fails, and not only with the first one.
    init(
        _ connection: Connection, lost: Event, tellsEachLoss: Bool = false,
        _ fact: @escaping @Sendable (LockStatus) -> Event
    ) {
        let status = try? connection.lockStatus()
        self.connection = connection
        self.lost = lost
        self.tellsEachLoss = tellsEachLoss
        self.fact = fact
        epoch = status?.epoch ?? 0
        state = status.map(fact)
    }

    func look(_ tell: (Event) -> Void) throws(KeychainError) {
        epoch = try connection.waitForLockChange(since: epoch, timeout: .lockFeedPause)
        // Also when the epoch is the same: a key that expires for lack of use leaves without one.
        let present = fact(try connection.lockStatus())
        if present == state { return }
        state = present
        tell(present)
    }

    func goesOn(after _: KeychainError, _ tell: (Event) -> Void) -> Bool {
        // A program that asks the keychain for anything is told why.
        if tellsEachLoss || state != lost { tell(lost) }
        state = lost
        return true
    }

    func end() {}
}
