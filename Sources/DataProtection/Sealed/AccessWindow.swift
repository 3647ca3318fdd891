internal import KeychainModel

/// For how long the key of one file may be used by one call.
///
/// Classes C and D stay open, and so does a class B file that is open. A class A file that is being read or written when
/// the keychain is locked has the grace of every call in progress; afterwards it is refused, as on Apple's systems.
struct AccessWindow: ~Copyable {
    /// Looking costs a call to the keychain.
    private static let interval = Duration.milliseconds(500)

    private let keys: FileKeys
    private let isWatched: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private var lastLook: ContinuousClock.Instant
    private var lockedSince: ContinuousClock.Instant?

    /// - Parameter now: Another time in tests alone.
    init(_ fileClass: FileClass, _ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.keys = keys
        self.now = now
        isWatched = fileClass == .complete
        lastLook = now()
    }

    /// To be called between the parts of a long operation.
    mutating func check(_ path: String) throws(DataProtectionError) {
        guard isWatched else { return }
        let now = now()
        guard now - lastLook >= Self.interval else { return }
        lastLook = now
        let reach = keys.reach()
        if reach == .unlocked {
            lockedSince = nil
            return
        }
        // Its own clock too: a lock that comes after an unlock has a grace of its own, and this call began before both.
        let since = lockedSince ?? now
        lockedSince = since
        if reach == .gone || now - since > LockStatus.graceLength {
            throw DataProtectionError(.locked, path, "the keychain was locked while the file was in use")
        }
    }
}
