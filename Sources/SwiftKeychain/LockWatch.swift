internal import Foundation
internal import KeychainModel
internal import Synchronization

/// Follows a keychain's lock. Belongs to one thread, which it may block.
protocol LockFollower: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Nothing that happens after this is missed.
    init(_ connection: Connection) throws(KeychainError)

    /// Waits for a moment, and tells what has happened.
    func look(_ tell: (Event) -> Void) throws(KeychainError)

    /// Nothing will be told any more.
    func end()
}

/// Watches a keychain's lock for one stream, on a thread of its own: waiting blocks, and the threads that run tasks
/// must not be blocked.
final class LockWatch<Follower: LockFollower>: Sendable {
    private let follower: Follower
    private let continuation: AsyncStream<Follower.Event>.Continuation
    private let isOver = Atomic(false)

    private init(_ follower: Follower, _ continuation: AsyncStream<Follower.Event>.Continuation) {
        self.follower = follower
        self.continuation = continuation
    }

    /// A stream of what changes from now on.
    static func stream(of connection: Connection) -> AsyncStream<Follower.Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Follower.Event.self)
        do throws(KeychainError) {
            // Here and not in the thread: a change right after this call must not be missed.
            LockWatch(try Follower(connection), continuation).start()
        } catch {
            // A stream of states has no place for an error: it ends, and whoever asks for the state is told.
            continuation.finish()
        }
        return stream
    }

    private func start() {
        continuation.onTermination = { [self] _ in isOver.store(true, ordering: .relaxed) }
        let thread = Thread { [self] in run() }
        thread.name = "keychainctl lock"
        thread.start()
    }

    private func run() {
        do throws(KeychainError) {
            while !isOver.load(ordering: .relaxed) { try follower.look { continuation.yield($0) } }
        } catch {
            // As above: the stream ends, and asking for the state gives the reason.
        }
        follower.end()
        continuation.finish()
    }
}

enum LockWatchTime {
    /// How long the thread may outlive its stream, and how late an expired key is noticed.
    static let pause = Duration.seconds(1)
}

/// Tells each change of the state when it has happened.
final class LockStateFollower: LockFollower, @unchecked Sendable {  // one thread has it
    private let connection: Connection
    private var epoch: UInt64
    private var state: KeychainLock.State

    init(_ connection: Connection) throws(KeychainError) {
        let status = try connection.lockStatus()
        self.connection = connection
        epoch = status.epoch
        state = KeychainLock.State(status.state)
    }

    func look(_ tell: (KeychainLock.State) -> Void) throws(KeychainError) {
        epoch = try connection.waitForLockChange(since: epoch, timeout: LockWatchTime.pause)
        // Also when the epoch is the same: a key that expires for lack of use leaves without one.
        let present = KeychainLock.State(try connection.lockStatus().state)
        if present == state { return }
        state = present
        tell(present)
    }

    func end() {}
}
