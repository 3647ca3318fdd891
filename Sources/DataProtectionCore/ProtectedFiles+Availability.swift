internal import KeychainClient

extension ProtectedFiles {
    /// Whether files of every class open at this moment: the keychain is unlocked, or it has no passcode.
    ///
    /// The answer costs one request to the keychain, and may be out of date when it arrives. It is false if the
    /// keychain cannot be asked; reading a file then throws the reason. It is true if there is no keychain yet.
    public var isProtectedDataAvailable: Bool { keys.isUnlocked() }

    /// The locks and unlocks from now on. A lock waits for the programs that follow them.
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
    /// **The notice.** A lock waits for every program that follows the changes, for three seconds at most. Calls on
    /// files that have begun by then have ten more seconds to end. Using a file in the meantime does not delay the lock
    /// any longer.
    ///
    /// **Locks without a notice.** Some locks cannot wait: sleep, hibernation, shutdown, the end of the session,
    /// `keychainctl lock --now` and `KeychainLock.lock(immediately: true)`. There is also no notice when the program
    /// that watches the session is killed and the keys leave by themselves, or when the store's directory cannot be
    /// written. The sequence tells of these locks after they have happened. Before the end of an idle limit there is a
    /// notice; with a limit of less than twelve seconds it lasts a quarter of the limit.
    ///
    /// **Cost.** Each read of this property begins a new sequence. A sequence takes one thread, and with a daemon one
    /// connection, for as long as it is in use. A program that keeps a sequence and never asks for an element delays
    /// every lock by three seconds. A loop whose body waits for the thread that locks delays the lock by three seconds
    /// too.
    ///
    /// Files do not open while the keychain cannot be looked at, as when its daemon has ended. The sequence tells of that as
    /// of a lock, and goes on when the keychain is back.
    public var protectedDataChanges: ProtectedDataChanges { ProtectedDataChanges(keys.connection) }
}
