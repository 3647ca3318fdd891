public import Foundation
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
/// Locking and unlocking is for every program of the user that uses the same store, not for this process alone, as
/// long as the kernel lends its keyring for that.
///
/// Every function blocks its thread; those that take a passcode do for about half a second, so that guessing is
/// slow. Call them where waiting does no harm.
///
/// A passcode is any UTF-8 text of 1 to 1024 bytes, taken exactly as it is. The bytes are copied into memory that is
/// erased after use. The caller's own copy is the caller's: erase it if that matters, or read the passcode into
/// memory of your own and hand over an `UnsafeRawBufferPointer`.
public struct KeychainLock: Sendable {
    /// Which keys are within reach.
    public enum State: Sendable, Hashable, CaseIterable {
        /// Not since the system started: only items that are accessible "always" can be used.
        case neverUnlocked
        /// Every item can be used. A keychain without a passcode is always in this state.
        case unlocked
        /// Items that are accessible "after first unlock" or "always" can be used; for all others a call ends
        /// with `errSecInteractionNotAllowed` (−25308).
        case locked
    }

    /// nil: that of the current task or of the process, whichever it is at the time of a call.
    private let ownConnection: Connection?

    var connection: Connection { ownConnection ?? .current }

    /// The lock of the keychain that this process uses: see ``KeychainConfiguration/processDefault``.
    public init() { ownConnection = nil }

    package init(_ connection: Connection) { ownConnection = connection }

    /// The lock of another keychain than the process's own.
    public init(_ configuration: KeychainConfiguration) { ownConnection = Connection(configuration) }

    // MARK: State

    public var state: State {
        get throws(KeychainError) { State(try status().state) }
    }

    /// Whether a passcode is set. Without one the keychain is never locked.
    public var hasPasscode: Bool {
        get throws(KeychainError) { try status().hasPasscode }
    }

    /// Each change of the state from now on, by whichever program; never twice the same one in a row.
    ///
    /// To miss nothing, begin a stream first and look at ``state`` then. A lock that is followed by an unlock within
    /// the same moment is no change. The stream ends when the keychain cannot be looked at any more, and at once if
    /// it never could: ``state`` then says why. It costs one thread for as long as someone has the stream.
    public var changes: AsyncStream<State> { connection.lockChanges }

    func status() throws(KeychainError) -> LockStatus {
        try connection.lockStatus()
    }

    // MARK: Locking

    /// Brings the keys that the passcode protects into reach, until they are locked away again.
    ///
    /// If a renewal of all keys was interrupted, this goes on with it and returns when it is done.
    ///
    /// - Parameters:
    ///   - passcode: Each wrong one counts; from the fifth on in a row there is a delay before the next is looked at.
    ///   - progress: Told how far such a renewal has come. Not called if there is none.
    /// - Throws: −25293 if the passcode is wrong or came too early, −25260 if none is set.
    public func unlock(
        passcode: some ContiguousBytes, progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        let passcode = SecretBytes(passcode)
        _ = try connection.unlock(passcode) { progress(RenewalProgress($0)) }
    }

    /// Takes the keys away from every program of the user.
    ///
    /// Programs that want to be told before, by `ProtectedFiles.protectedDataChanges` of the module `DataProtection`, are
    /// waited for, this one too: up to three seconds.
    ///
    /// - Parameter immediately: Whether nobody is told before, and calls in progress are refused too. Otherwise they have
    ///   ten seconds to end.
    /// - Throws: −25260 if no passcode is set, since nothing could be unlocked again.
    public func lock(immediately: Bool = false) throws(KeychainError) {
        _ = try connection.perform(.lock(immediately ? .now : .withGrace))
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
    /// A copy of a caller's bytes, which is erased after use.
    convenience init(_ bytes: some ContiguousBytes) {
        self.init(count: bytes.withUnsafeBytes { $0.count }) { target in
            bytes.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }
}
