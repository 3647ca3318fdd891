internal import Foundation
internal import Glibc
internal import KeychainModel
internal import Synchronization

/// Tells of each change of a keychain's lock on a thread of its own, which nothing that tasks do keeps waiting.
package final class LockObserver: Sendable {
    private let isOver = Atomic(false)

    /// Nothing that happens after this is missed.
    ///
    /// - Parameter tell: Called on the thread, with the state that there is now. If it cannot be found out, as when a
    ///   daemon has ended, `.locked`; then it is looked again every second.
    package init(_ connection: Connection, _ tell: @escaping @Sendable (KeychainLock.State) -> Void) {
        let first = try? LockStateFollower(connection)
        let thread = Thread { [self] in run(connection, first, tell) }
        thread.name = "keychainctl lock"
        thread.start()
    }

    /// Nothing is told from now on, but for a call that is under way. The thread ends within a second.
    package func end() { isOver.store(true, ordering: .relaxed) }

    private func run(
        _ connection: Connection, _ first: LockStateFollower?, _ tell: (KeychainLock.State) -> Void
    ) {
        var follower = first
        while !isOver.load(ordering: .relaxed) {
            do throws(KeychainError) {
                let present: LockStateFollower
                if let follower { present = follower } else { present = try LockStateFollower(connection) }
                follower = present
                try present.look { if !isOver.load(ordering: .relaxed) { tell($0) } }
            } catch {
                // Who asks the keychain for anything is told why.
                follower = nil
                tell(.locked)
                sleep(1)
            }
        }
    }
}
