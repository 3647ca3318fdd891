public import FoundationEssentials
internal import KeychainClient
public import KeychainModel

/// The lock of a keychain, and the passcode that opens it.
///
/// ```swift
/// let lock = KeychainLock()
/// try lock.setPasscode(Data("correct horse battery staple".utf8))
/// try lock.lock()
/// try lock.unlock(passcode: Data("correct horse battery staple".utf8))
/// ```
///
/// A lock or unlock is for every program of the user that uses this store. It needs the kernel's keyring for that.
/// Where the kernel refuses it, as in some containers, an unlock serves one process, and a lock still reaches all of
/// them.
///
/// Every function blocks its thread, and may be called from any thread. A function that takes a passcode blocks for
/// about half a second, which makes guessing slow.
///
/// A passcode is any UTF-8 text of 1 to 1024 bytes, taken exactly as it is. The library copies the bytes into memory
/// that it erases after use. The caller's own copy is not erased: read the passcode into memory of your own if that
/// matters, and pass an `UnsafeRawBufferPointer`.
///
/// > Important: A forgotten passcode cannot be recovered. All items are lost with it, except those that are accessible
/// > "always".
///
/// A lock takes no value back that a program has read.
public struct KeychainLock: Sendable {
    /// The states of a lock, which decide which items can be used.
    public enum State: Sendable, Hashable, CaseIterable {
        /// The keychain was not unlocked since the system started. Only items that are accessible "always" can be used.
        ///
        /// With a daemon, the start of the daemon counts.
        case neverUnlocked
        /// Every item can be used. A keychain without a passcode is always in this state.
        case unlocked
        /// Items that are accessible "after first unlock" or "always" can be used.
        ///
        /// A call for any other item throws `KeychainError.Code.interactionNotAllowed` (−25308).
        case locked
    }

    /// `nil` means the connection of the current task or of the process, as it is at the time of a call.
    private let ownConnection: Connection?

    var connection: Connection { ownConnection ?? .current }

    /// Makes the lock of the keychain that this process uses: see ``KeychainConfiguration/processDefault``. It opens
    /// nothing.
    public init() { ownConnection = nil }

    package init(_ connection: Connection) { ownConnection = connection }

    /// Makes the lock of another keychain than the process's own. It opens nothing.
    ///
    /// - Parameter configuration: The other keychain. Each lock that is made here opens the store on its own.
    public init(_ configuration: KeychainConfiguration) { ownConnection = Connection(configuration) }

    // MARK: State

    /// The present state, which another program may change at any moment.
    ///
    /// A call that needs an item should be made and its error be looked at, instead of asking for the state first.
    ///
    /// - Throws: `KeychainError.Code.notAvailable` if the keychain cannot be opened.
    public var state: State {
        get throws(KeychainError) { State(try status().state) }
    }

    /// Whether a passcode is set. A keychain without one is never locked, and the device key alone opens it.
    ///
    /// - Throws: `KeychainError.Code.notAvailable` if the keychain cannot be opened.
    public var hasPasscode: Bool {
        get throws(KeychainError) { try status().hasPasscode }
    }

    /// The changes of the state from now on, by any program.
    ///
    /// ```swift
    /// for await state in KeychainLock().changes where state != .unlocked {
    ///     forgetDecryptedValues()
    /// }
    /// ```
    ///
    /// Two elements in a row are never equal, and a lock that is followed by an unlock within a moment is no change. To
    /// miss nothing, begin the stream first and read ``state`` then. The end of an idle limit is noticed within a
    /// second.
    ///
    /// A keychain that cannot be looked at, such as one whose daemon has ended, is told as `.locked`, and the stream goes on
    /// when it is back. In between ``state`` throws the reason.
    ///
    /// Each read of this property begins a stream, which costs one thread for as long as it is in use. It ends with the task
    /// that reads it. A program that needs notice *before* a lock uses `ProtectedFiles.protectedDataChanges` of the module
    /// `DataProtection`.
    public var changes: AsyncStream<State> { connection.lockChanges(as: State.init) }

    func status() throws(KeychainError) -> LockStatus {
        try connection.lockStatus()
    }

    // MARK: Locking

    /// Brings the keys that the passcode protects into reach, for every program of the user.
    ///
    /// It goes on with a renewal of all keys that was interrupted, and returns when that is done.
    ///
    /// - Parameters:
    ///   - passcode: The passcode. Each wrong one counts, and repeating it at once does not count. From the fifth wrong
    ///     one in a row on there is a wait before the next one is looked at: 1, 5, 15, 15 and then 60 minutes.
    ///   - progress: Called on this thread after each part of such a renewal, and never if there is none.
    /// - Throws: `KeychainError.Code.authenticationFailed` (−25293) if the passcode is wrong or came too early;
    ///   `KeychainError.Code.noPasscode` (−25260) if none is set. The state is the former one then.
    public func unlock(
        passcode: some ContiguousBytes, progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        let passcode = SecretBytes(passcode)
        _ = try connection.unlock(passcode) { progress(RenewalProgress($0)) }
    }

    /// Takes the keys away from every program of the user.
    ///
    /// Programs that follow `ProtectedFiles.protectedDataChanges` of the module `DataProtection` are told first. The
    /// call waits for them, and for this program too, for three seconds at most. Values that programs have read stay
    /// with them.
    ///
    /// - Parameter immediately: Whether to skip that notice and refuse calls in progress too. Otherwise these have ten
    ///   seconds to end.
    /// - Throws: `KeychainError.Code.noPasscode` (−25260) if no passcode is set, since no passcode could unlock it
    ///   again.
    public func lock(immediately: Bool = false) throws(KeychainError) {
        try connection.lock(immediately ? .now : .withGrace)
    }
}

extension KeychainLock.State {
    init(_ state: LockState) {
        self =
            switch state {
            case .neverUnlocked: .neverUnlocked
            case .unlocked: .unlocked
            case .locked: .locked
            }
    }
}

extension SecretBytes {
    /// Copies a caller's bytes. The copy is erased after use.
    convenience init(_ bytes: some ContiguousBytes) {
        self.init(count: bytes.withUnsafeBytes { $0.count }) { target in
            bytes.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }
}
