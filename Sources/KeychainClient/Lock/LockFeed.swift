internal import Foundation
internal import Glibc
package import KeychainModel
internal import Synchronization

/// Tells of a keychain's lock, on a thread of its own.
///
/// Waiting for a change blocks, and the threads that run tasks must not be blocked. Work in tasks must not keep a lock
/// from being told of, either. A notice before a lock waits for those who were told, so each kind of event has a feed
/// of its own.
package final class LockFeed: Sendable {
    private let isOver = Atomic(false)

    private init() {}

    /// Tells each change of the state that happens from now on.
    ///
    /// - Parameter tell: Called on the thread. If the state cannot be found out, as when a daemon has ended, it is told
    ///   `.locked`, and it is looked again every second.
    package convenience init(_ connection: Connection, _ tell: @escaping @Sendable (LockState) -> Void) {
        self.init()
        let make = { @Sendable () throws(KeychainError) in try LockStateFollower(connection) }
        start(try? make(), make, tell) {
            // A program that asks the keychain for anything is told why.
            tell(.locked)
            return true
        }
    }

    /// A stream of what happens from now on. A stream of states has no place for an error: it ends, and asking for the
    /// state gives the reason.
    ///
    /// - Parameter make: Makes what follows: nothing that happens after that is missed.
    package static func stream<Follower: LockFollower, Event>(
        by make: @escaping @Sendable () throws(KeychainError) -> Follower,
        as event: @escaping @Sendable (Follower.Event) -> Event
    ) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let feed = LockFeed()
        continuation.onTermination = { _ in feed.end() }
        do throws(KeychainError) {
            // Here and not in the thread: a change right after this call must not be missed.
            let follower = try make()
            feed.start(follower, make, { continuation.yield(event($0)) }, whenLost: { false }) { continuation.finish() }
        } catch {
            continuation.finish()
        }
        return stream
    }

    /// Nothing is told from now on, but for a call that is under way. The thread ends within a second.
    package func end() { isOver.store(true, ordering: .relaxed) }

    /// - Parameters:
    ///   - first: nil: the first one could not be made.
    ///   - whenLost: Returns whether to look again.
    private func start<Follower: LockFollower>(
        _ first: Follower?, _ make: @escaping @Sendable () throws(KeychainError) -> Follower,
        _ tell: @escaping @Sendable (Follower.Event) -> Void, whenLost: @escaping @Sendable () -> Bool,
        whenOver: @escaping @Sendable () -> Void = {}
    ) {
        let thread = Thread { [self] in
            run(first, make, tell, whenLost)
            whenOver()
        }
        thread.name = "keychain lock"
        thread.start()
    }

    private func run<Follower: LockFollower>(
        _ first: Follower?, _ make: () throws(KeychainError) -> Follower, _ tell: (Follower.Event) -> Void,
        _ whenLost: () -> Bool
    ) {
        var follower = first
        while !isOver.load(ordering: .relaxed) {
            do throws(KeychainError) {
                let present: Follower
                if let follower { present = follower } else { present = try make() }
                follower = present
                try present.look { if !isOver.load(ordering: .relaxed) { tell($0) } }
            } catch {
                follower?.end()
                follower = nil
                guard whenLost() else { return }
                sleep(1)
            }
        }
        follower?.end()
    }
}

/// Follows a keychain's lock. Belongs to one thread, which it may block.
package protocol LockFollower: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Waits for a moment, and tells what has happened.
    func look(_ tell: (Event) -> Void) throws(KeychainError)

    /// Nothing will be told any more.
    func end()
}

extension Duration {
    /// How long a feed's thread may outlive those who listen, and how late an expired key is noticed.
    package static let lockFeedPause = Duration.seconds(1)
}

/// Tells each change of the state when it has happened.
final class LockStateFollower: LockFollower, @unchecked Sendable {  // one thread has it
    private let connection: Connection
    private var epoch: UInt64
    private var state: LockState

    init(_ connection: Connection) throws(KeychainError) {
        let status = try connection.lockStatus()
        self.connection = connection
        epoch = status.epoch
        state = status.state
    }

    func look(_ tell: (LockState) -> Void) throws(KeychainError) {
        epoch = try connection.waitForLockChange(since: epoch, timeout: .lockFeedPause)
        // Also when the epoch is the same: a key that expires for lack of use leaves without one.
        let present = try connection.lockStatus().state
        if present == state { return }
        state = present
        tell(present)
    }

    func end() {}
}
