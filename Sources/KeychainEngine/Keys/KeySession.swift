package import KeychainCrypto
package import KeychainModel

/// The keys of a store for the length of one operation, in one thread.
///
/// The keys of the "when unlocked" tier are fetched when the first of them is used, and erased when the operation ends.
/// Keys that were fetched before a lock may be used until the end of the grace.
package final class KeySession {
    private let keys: KeyStore
    /// Whether rows under keys that the keybag lacks count as damaged, instead of making the operation begin anew.
    let isLastAttempt: Bool
    package let snapshot: KeySnapshot
    /// The latest date of expiry that any process has seen to have passed.
    private(set) var latestExpiry: ExpiryDate
    /// nil until the keys are asked for.
    private var fetched: KeySet??
    /// Whether taking a key puts off the lock that comes after a time without use.
    private let countsAsUse: Bool

    init(
        _ keys: KeyStore, _ snapshot: KeySnapshot, latestExpiry: ExpiryDate, isLastAttempt: Bool,
        countsAsUse: Bool = true
    ) {
        self.keys = keys
        self.countsAsUse = countsAsUse
        self.isLastAttempt = isLastAttempt
        self.snapshot = snapshot
        self.latestExpiry = latestExpiry
    }

    /// A session for work that no caller asked for.
    func unnoticed() -> KeySession {
        KeySession(keys, snapshot, latestExpiry: latestExpiry, isLastAttempt: true, countsAsUse: false)
    }

    /// The generation of keys that rows are sealed under now.
    package var generation: UInt32 { snapshot.newestGeneration }

    func noteExpired(_ date: ExpiryDate) {
        guard date > latestExpiry else { return }
        latestExpiry = date
        keys.noteExpired(date)
    }

    // MARK: Class keys

    /// Calls `body` with the key of a class.
    ///
    /// - Throws: `.interactionNotAllowed` if the key is locked away, `.decode` if there is no such key, or
    ///   `KeychainError.staleKeys` if the keys were renewed since the operation began.
    func withClassKey<R>(
        _ protection: Protection, generation: UInt32, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        let name = KeyName.itemClass(protection)
        if let result = try set(of: protection.tier)?.withKey(name, generation: generation, body) { return result }
        if generation > snapshot.newestGeneration && !isLastAttempt { throw .staleKeys }
        guard exists(protection, generation: generation) else {
            throw KeychainError(.decode, message: "there is no key for the class that a stored item claims")
        }
        throw lockedError(protection.tier)
    }

    /// Calls `body` with the key that new rows are sealed under.
    ///
    /// - Throws: `.authenticationFailed` for the class that exists only while a passcode is set.
    func withSealingKey<R>(
        _ protection: Protection, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard protection != .whenPasscodeSetThisDeviceOnly || snapshot.bag.passcode != nil else {
            throw KeychainError(
                .authenticationFailed,
                message: "no passcode is set, and a \"when passcode set\" item needs one: choose another "
                    + "accessibility, or set one with 'keychainctl passcode set'")
        }
        return try withClassKey(protection, generation: generation, body)
    }

    /// Whether the key exists, within reach or not.
    func exists(_ protection: Protection, generation: UInt32) -> Bool {
        snapshot.bag.entries.contains { $0.key == .itemClass(protection) && $0.generation == generation }
    }

    // MARK: Index keys

    /// Makers of index tokens, one for each generation of keys in use, the newest first; nil if the tier is out of
    /// reach before the first unlock.
    package func indexers(for tier: IndexTier) throws(KeychainError) -> [(generation: UInt32, indexer: Indexer)]? {
        let name = KeyName.index(tier)
        // The keys that a process holds by itself may be older than a renewal of keys, and find no newer rows.
        guard let set = try set(of: name.tier), set.contains(name, generation: generation) else { return nil }
        var indexers: [(generation: UInt32, indexer: Indexer)] = []
        for generation in snapshot.generations {
            if let indexer = Indexer(set, name, generation: generation) { indexers.append((generation, indexer)) }
        }
        return indexers
    }

    // MARK: Sets

    /// All keys of a tier; nil if the tier is out of reach.
    package func set(of tier: KeyTier) throws(KeychainError) -> KeySet? {
        switch tier {
        case .always: return snapshot.always
        case .afterFirstUnlock: return snapshot.afterFirstUnlock
        case .whenUserInactive: return try keys.whenUserInactive(snapshot)
        case .whenUnlocked:
            if let fetched { return fetched }
            let present = try countsAsUse ? keys.fetchWhenUnlocked(snapshot) : keys.available(snapshot)
            fetched = .some(present)
            return present
        }
    }

    /// Long operations call this now and then.
    ///
    /// - Throws: `.interactionNotAllowed` if the store was locked meanwhile and the grace is over.
    func requireWithinGrace() throws(KeychainError) {
        if case .some(.some) = fetched, snapshot.bag.passcode != nil { try keys.requireWithinGrace(snapshot) }
    }

    func requireHost() throws(KeychainError) { try keys.requireHost(snapshot) }

    /// The error for a tier that is out of reach.
    package func lockedError(_ tier: KeyTier) -> KeychainError {
        KeychainError(
            .interactionNotAllowed,
            message: tier != .afterFirstUnlock && snapshot.afterFirstUnlock != nil
                ? "the keychain is locked; run 'keychainctl unlock'"
                : "the keychain was not unlocked since the system started; run 'keychainctl unlock'")
    }
}

extension KeychainError {
    /// No caller sees this error: the engine begins the operation anew, with the present keys.
    static var staleKeys: KeychainError {
        KeychainError(
            .notAvailable, message: "the keys of the keychain are being renewed; try again", signal: .staleKeys)
    }

    static var keybagTooOld: KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keys of the keychain were renewed, and its keybag is from before that, or the database was "
                + "edited. Nothing was changed; put back the keybag that belongs to the database")
    }
}
