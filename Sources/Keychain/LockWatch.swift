internal import Foundation
internal import KeychainModel
internal import Synchronization

/// Watches a keychain's lock for one stream, on a thread of its own: waiting blocks, and the threads that run tasks
/// must not be blocked.
final class LockWatch: Sendable {
    /// How long the thread may outlive its stream, and how late an expired key is noticed.
    private static let pause = Duration.seconds(1)

    private let connection: Connection
    private let continuation: AsyncStream<KeychainLock.State>.Continuation
    private let isOver = Atomic(false)

    private init(_ connection: Connection, _ continuation: AsyncStream<KeychainLock.State>.Continuation) {
        self.connection = connection
        self.continuation = continuation
    }

    /// A stream of what changes from now on.
    static func stream(of connection: Connection) -> AsyncStream<KeychainLock.State> {
        let (stream, continuation) = AsyncStream.makeStream(of: KeychainLock.State.self)
        do throws(KeychainError) {
            // Here and not in the thread: a change right after this call must not be missed.
            let status = try connection.lockStatus()
            LockWatch(connection, continuation).start(from: status)
        } catch {
            // A stream of states has no place for an error: it ends, and whoever asks for the state is told.
            continuation.finish()
        }
        return stream
    }

    private func start(from status: LockStatus) {
        continuation.onTermination = { [self] _ in isOver.store(true, ordering: .relaxed) }
        let thread = Thread { [self] in run(from: status) }
        thread.name = "keychain lock"
        thread.start()
    }

    private func run(from status: LockStatus) {
        do throws(KeychainError) {
            try follow(from: status)
        } catch {
            // As above: the stream ends, and asking for the state gives the reason.
        }
        continuation.finish()
    }

    private func follow(from status: LockStatus) throws(KeychainError) {
        var epoch = status.epoch
        var state = KeychainLock.State(status.state)
        while !isOver.load(ordering: .relaxed) {
            epoch = try connection.waitForLockChange(since: epoch, timeout: Self.pause)
            // Also when the epoch is the same: a key that expires for lack of use leaves without one.
            let present = KeychainLock.State(try connection.lockStatus().state)
            if present == state { continue }
            state = present
            continuation.yield(state)
        }
    }
}

extension Connection {
    /// Each change of the lock from now on: ``KeychainLock/changes``.
    package var lockChanges: AsyncStream<KeychainLock.State> { LockWatch.stream(of: self) }
}
