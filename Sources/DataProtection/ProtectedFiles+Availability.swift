public import Foundation
internal import KeychainModel
internal import SwiftKeychain

extension ProtectedFiles {
    /// Whether files of every class open now: the keychain is unlocked, or has no passcode.
    ///
    /// False also if the keychain cannot be asked; reading a file then says why.
    public var isProtectedDataAvailable: Bool { keys.isUnlocked() }

    /// Tells from now on before files of classes A and B stop to open, when they have, and when they open again.
    ///
    /// ```swift
    /// for await change in files.protectedDataChanges {
    ///     switch change {
    ///     case .willBecomeUnavailable: saveDraft()
    ///     case .didBecomeUnavailable: hideContent()
    ///     case .didBecomeAvailable: showContent()
    ///     }
    /// }
    /// ```
    ///
    /// A lock waits for everybody who was told that it comes, in every program, and for three seconds at most; what has
    /// begun by then has ten seconds more to end. Files that are used in that time put nothing off.
    ///
    /// There is no notice before a lock that cannot wait: sleep, hibernation, shutdown, the end of the session,
    /// `keychainctl lock --now` and `KeychainLock.lock(immediately: true)`; nor when the keys leave by themselves, because
    /// whoever watched the session was killed. Of these one is told when they have happened. Before an idle limit ends
    /// there is notice, a quarter of the limit if it has less than twelve seconds. Where the store's directory cannot be
    /// written, nobody can ask for notice either.
    ///
    /// Whoever takes this and never asks for an element makes each lock take the three seconds; so does a loop whose body
    /// waits for the thread that locks, which goes on after them. Each time this is read it begins anew. It costs one
    /// thread, and with a daemon a connection, for as long as someone has it. It ends when the keychain cannot be looked
    /// at any more.
    public var protectedDataChanges: ProtectedDataChanges { ProtectedDataChanges(keys.connection) }

    /// Posted by ``postAvailability(to:)`` before files of classes A and B stop to open. The name is Apple's, for a
    /// `UIApplication`.
    public static let protectedDataWillBecomeUnavailable = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")

    /// Posted by ``postAvailability(to:)`` when files of every class open again. The name is Apple's, for a
    /// `UIApplication`.
    public static let protectedDataDidBecomeAvailable = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")

    /// Posted by ``postAvailability(to:)`` when files of classes A and B have stopped to open.
    public static let protectedDataDidBecomeUnavailable = Notification.Name("KeychainProtectedDataDidBecomeUnavailable")

    /// Posts a notification for each of ``protectedDataChanges`` from now on, until the task is cancelled.
    ///
    /// They are posted by a thread of the task, never the main thread. The lock waits for observers that are called by
    /// that thread, which is what no queue or `nil` as a queue means; what they hand to another thread it does not wait
    /// for.
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
