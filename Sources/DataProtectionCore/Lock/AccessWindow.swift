internal import KeychainModel
internal import SealedFiles

/// The time for which one call may use the key of one file.
///
/// Files of the classes C and D stay open, and so does an open file of class B. Any other file that is being read or
/// written when the keychain is locked has the grace of every call in progress. Afterwards it is refused, as on Apple's
/// systems.
struct AccessWindow: ~Copyable {
    /// The time between two looks at the lock. Each look costs a call to the keychain.
    private static let interval = Duration.milliseconds(500)

    private let keys: FileKeys
    private let isWatched: Bool
    private let fileClass: FileClass
    private let now: @Sendable () -> ContinuousClock.Instant
    private var lastLook: ContinuousClock.Instant
    private var lockedSince: ContinuousClock.Instant?

    /// Begins the time of a call.
    ///
    /// - Parameter now: The clock, which only tests replace.
    init(_ fileClass: FileClass, _ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.keys = keys
        self.now = now
        isWatched = fileClass.closesWithLock
        self.fileClass = fileClass
        lastLook = now()
    }

    /// Looks at the lock, between the parts of a long operation.
    mutating func check(_ path: String) throws(DataProtectionError) {
        guard isWatched else { return }
        let now = now()
        guard now - lastLook >= Self.interval else { return }
        lastLook = now
        let reach = keys.reach(fileClass)
        if reach == .unlocked {
            lockedSince = nil
            return
        }
        // The call counts its own ten seconds too. A lock that comes after an unlock has a grace of its own, and this
        // call began before both.
        let since = lockedSince ?? now
        lockedSince = since
        if reach == .gone || now - since > LockStatus.graceLength {
            throw DataProtectionError(.locked, path, "the keychain was locked while the file was in use")
        }
    }
}
