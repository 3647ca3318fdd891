public import Foundation
internal import Keychain
internal import KeychainModel

extension ProtectedFiles {
    /// Whether files of every class open now: the keychain is unlocked, or has no passcode.
    ///
    /// False also if the keychain cannot be asked; reading a file then says why.
    public var isProtectedDataAvailable: Bool { keys.isUnlocked() }

    /// Tells from now on when files of classes A and B stop to open (false) and when they open again (true); never twice
    /// the same in a row.
    ///
    /// It tells of a lock when it has happened: what is read or written at that moment has ten seconds to end, and a new
    /// call is refused. There is no notice before the lock in this version. The stream ends when the keychain cannot be
    /// looked at any more. It costs one thread for as long as someone has it.
    public var availability: AsyncStream<Bool> {
        let states = keys.connection.lockChanges
        return AsyncStream { continuation in
            let task = Task {
                var former: Bool?
                for await state in states {
                    let isAvailable = state == .unlocked
                    if former != isAvailable { continuation.yield(isAvailable) }
                    former = isAvailable
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Posted by ``postAvailability(to:)`` when files of every class open again. The name is Apple's, for a
    /// `UIApplication`.
    public static let protectedDataDidBecomeAvailable = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")

    /// Posted by ``postAvailability(to:)`` when files of classes A and B have stopped to open.
    public static let protectedDataDidBecomeUnavailable = Notification.Name("KeychainProtectedDataDidBecomeUnavailable")

    /// Posts a notification for every change of ``availability`` from now on, until the task is cancelled.
    public func postAvailability(to center: NotificationCenter = .default) -> Task<Void, Never> {
        let changes = availability
        return Task {
            for await isAvailable in changes {
                center.post(
                    name: isAvailable ? Self.protectedDataDidBecomeAvailable : Self.protectedDataDidBecomeUnavailable,
                    object: nil)
            }
        }
    }
}
