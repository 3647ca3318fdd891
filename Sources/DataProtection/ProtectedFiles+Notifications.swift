public import DataProtectionCore
public import Foundation

extension ProtectedFiles {
    /// The notification that ``postAvailability(to:)`` posts before files of the classes A and B stop opening.
    ///
    /// The name is the one that Apple's `UIApplication` uses.
    public static let protectedDataWillBecomeUnavailable = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")

    /// The notification that ``postAvailability(to:)`` posts when files of every class open again.
    ///
    /// The name is the one that Apple's `UIApplication` uses.
    public static let protectedDataDidBecomeAvailable = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")

    /// The notification that ``postAvailability(to:)`` posts when files of the classes A and B have stopped opening.
    ///
    /// Apple has no such notification, so the name is this library's own.
    public static let protectedDataDidBecomeUnavailable = Notification.Name("KeychainProtectedDataDidBecomeUnavailable")

    /// Posts a notification for each of ``protectedDataChanges`` until the returned task is cancelled.
    ///
    /// ```swift
    /// let posting = files.postAvailability()
    /// let observer = NotificationCenter.default.addObserver(
    ///     forName: ProtectedFiles.protectedDataWillBecomeUnavailable, object: nil, queue: nil
    /// ) { _ in saveDraft() }
    /// ```
    ///
    /// A thread of the task posts the notifications, never the main thread. The lock waits for an observer whose queue
    /// is `nil`, since that thread calls it. The lock does not wait for an observer with a queue, or for work that an
    /// observer hands to another thread.
    ///
    /// - Parameter center: The center that the notifications are posted to. Their object is `nil`.
    /// - Returns: The task that posts. Dropping it does not end it; cancelling it does.
    public func postAvailability(to center: NotificationCenter = .default) -> Task<Void, Never> {
        let changes = protectedDataChanges
        return Task {
            for await change in changes { center.post(name: change.notification, object: nil) }
        }
    }
}

extension ProtectedDataChange {
    fileprivate var notification: Notification.Name {
        switch self {
        case .willBecomeUnavailable: ProtectedFiles.protectedDataWillBecomeUnavailable
        case .didBecomeUnavailable: ProtectedFiles.protectedDataDidBecomeUnavailable
        case .didBecomeAvailable: ProtectedFiles.protectedDataDidBecomeAvailable
        }
    }
}
