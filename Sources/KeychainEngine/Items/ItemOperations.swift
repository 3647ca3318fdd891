internal import KeychainCrypto
internal import KeychainModel
package import Logging

/// The operations of one request on items: the store, and the keys as they were when the request came.
package struct ItemOperations {
    let store: ItemStore
    package let keys: KeySession
    let configuration: EngineConfiguration
    let logger: Logger
    let authentication: Authentication
    /// The feed that hears of removed expired items; nil if there is no listener.
    let changes: ChangeFeed?
    /// The memory for the rows that are open at a time; nil if there is no limit.
    var mostBytes: Int?

    /// The date by which items have expired: the time of day, or a later date of expiry that was seen to have passed.
    /// The clock is read anew each time, since a write may wait for its turn.
    var now: ExpiryDate { max(clockDate, keys.latestExpiry) }

    /// The time of day.
    var clockDate: ExpiryDate { ExpiryDate(clamping: configuration.clock.now) }

    package init(
        store: ItemStore, keys: KeySession, configuration: EngineConfiguration, logger: Logger,
        authentication: Authentication, changes: ChangeFeed? = nil
    ) {
        self.store = store
        self.keys = keys
        self.configuration = configuration
        self.logger = logger
        self.authentication = authentication
        self.changes = changes
    }

    /// The date of expiry that a request asks for, by the time of day.
    ///
    /// - Throws: `.parameter` for a date that has passed, or that is before a later time that a program has already
    ///   seen.
    func date(_ expiry: ItemExpiry) throws(KeychainError) -> ExpiryDate? {
        guard let date = try expiry.date(at: clockDate) else { return nil }
        guard date > keys.latestExpiry else {
            throw KeychainError(
                .parameter,
                message:
                    "the keychain has seen the clock at a later time than the item would expire at. If that time was "
                    + "wrong, "
                    + (configuration.host.isDaemon
                        ? "start keychaind anew: it forgets it" : "'keychainctl doctor --repair' makes it forget that"))
        }
        return date
    }

    package var cipher: RowCipher {
        RowCipher(
            keys: keys, storeID: store.storeID, randomness: configuration.randomness,
            constraints: ConstraintKeys(
                consentPublicKey: keys.snapshot.bag.consent?.publicKey ?? authentication.consent?.publicKey,
                consent: authentication.consent,
                applicationPassword: authentication.applicationPassword))
    }

    var hasPasscode: Bool { keys.snapshot.bag.passcode != nil }

    /// The access control of an item that is to be stored: ``Authentication/binding(_:hasPasscode:hasConsentPair:)``.
    func binding(_ control: AccessControl) throws(KeychainError) -> AccessControl {
        try authentication.binding(
            control, hasPasscode: hasPasscode, hasConsentPair: keys.snapshot.bag.consent != nil)
    }

    /// Runs `body` on one snapshot of the store.
    ///
    /// - Throws: `KeychainError.staleKeys`, and in the end `KeychainError.keybagTooOld`, if rows may be sealed and
    ///   listed under keys that the session does not have: a search would not find them.
    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try store.requireVersion(asOf: keys.snapshot.record.epoch)
        return try store.read { connection in
            guard connection.newestHomeGeneration <= keys.generation else {
                throw keys.isLastAttempt ? KeychainError.keybagTooOld : .staleKeys
            }
            return try body(connection)
        }
    }

    /// Runs `body` in a transaction, perhaps in another thread while this one waits. If `body` throws, nothing is
    /// changed.
    ///
    /// - Parameters:
    ///   - isLarge: Whether the changes are so many that other writes should not share the transaction.
    ///   - onlyRemoves: Whether the space that is kept for a full disk is enough.
    ///   - removesExpired: Whether items that have expired for good are removed first.
    ///   - forgetsPages: Whether later requests have no use for the pages of a large transaction.
    /// - Throws: `KeychainError.staleKeys` if `body` must seal under newer keys.
    package func write<R>(
        isLarge: Bool = false, onlyRemoves: Bool = false, removesExpired: Bool = true, forgetsPages: Bool = false,
        _ body: (StoreConnection) throws -> R
    ) throws -> R {
        var expired: Set<ChangeFeed.Topic> = []
        // The feed is told after the commit, since its listeners look at once.
        defer { changes?.note(expired) }
        func agreed(_ connection: StoreConnection) throws -> R {
            // The store may have gone to another host while this write waited for its turn.
            try keys.requireHost()
            let agreed = try connection.sealingGeneration()
            guard agreed <= keys.generation else {
                throw keys.isLastAttempt ? KeychainError.keybagTooOld : .staleKeys
            }
            // From here on no process may go on with older keys alone: a search with them would miss the new entries.
            if agreed < keys.generation { try connection.setSealingGeneration(keys.generation) }
            if removesExpired { expired = try removeExpired(on: connection)?.topics ?? [] }
            return try body(connection)
        }
        if onlyRemoves { return try store.remove(agreed) }
        guard isLarge else { return try store.write(agreed) }
        // Transactions that each change most pages of the index would otherwise write every page twice: 64 MiB of log.
        return try store.writeAlone(pagesBetweenCheckpoints: 16_000, forgetsPages: forgetsPages, agreed)
    }
}
