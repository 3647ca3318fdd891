internal import Foundation
internal import KeychainCrypto
internal import KeychainModel
package import Logging

/// What one request does with items: the store, and the keys as they were when the request came.
package struct ItemOperations {
    let store: ItemStore
    package let keys: KeySession
    let configuration: EngineConfiguration
    let logger: Logger
    let authentication: Authentication
    /// Told of what goes because it has expired. nil: nobody listens.
    let changes: ChangeFeed?
    /// How much memory there is for what is opened at a time; nil: as much as it takes.
    var mostBytes: Int?

    /// Items that expire by now are not there: the time of day, or a later date of expiry that was seen to have passed. Asked
    /// anew each time, since a write may wait for its turn.
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
    /// - Throws: `.parameter` for one that has passed, or that would count as passed: somebody has seen a later time already.
    func date(_ expiry: ItemExpiry) throws(KeychainError) -> ExpiryDate? {
        guard let date = try expiry.date(at: clockDate) else { return nil }
        guard date > keys.latestExpiry else {
            throw KeychainError(
                .parameter,
                message:
                    "the keychain has seen the clock at a later time than the item would expire at. If that time was "
                    + "wrong, "
                    + (configuration.host == .user
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
    /// - Throws: `KeychainError.staleKeys`, and in the end `KeychainError.keybagTooOld`, if rows may be there that were sealed and listed under keys which the
    ///   session does not have: they would not be found.
    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R {
        try store.requireVersion(asOf: keys.snapshot.record.epoch)
        return try store.read { connection in
            guard connection.newestHomeGeneration <= keys.generation else {
                throw keys.isLastAttempt ? KeychainError.keybagTooOld : .staleKeys
            }
            return try body(connection)
        }
    }

    /// Runs `body` in a transaction, perhaps in another thread, beside which this one waits. If it throws, nothing of it
    /// is changed.
    ///
    /// - Parameters:
    ///   - isLarge: Whether it changes so much that other writes should not share its transaction.
    ///   - onlyRemoves: Whether it can do with the space that is kept for a full disk.
    ///   - removesExpired: Whether what has expired for good goes first.
    ///   - forgetsPages: Whether what a large one used of the database is of no use for what follows.
    /// - Throws: `KeychainError.staleKeys` if what is written must be sealed under newer keys.
    package func write<R>(
        isLarge: Bool = false, onlyRemoves: Bool = false, removesExpired: Bool = true, forgetsPages: Bool = false,
        _ body: (StoreConnection) throws -> R
    ) throws -> R {
        var expired: Int?
        // When it is committed: who is told looks at once.
        defer { if expired != nil { changes?.note(ItemClass.stored, in: nil) } }
        func agreed(_ connection: StoreConnection) throws -> R {
            let agreed = try connection.sealingGeneration()
            guard agreed <= keys.generation else {
                throw keys.isLastAttempt ? KeychainError.keybagTooOld : .staleKeys
            }
            // From here on no process may go on with older keys alone: it would not see what this one lists.
            if agreed < keys.generation { try connection.setSealingGeneration(keys.generation) }
            if removesExpired { expired = try removeExpired(on: connection) }
            return try body(connection)
        }
        if onlyRemoves { return try store.remove(agreed) }
        guard isLarge else { return try store.write(agreed) }
        // Transactions that each change most pages of the index would otherwise all be written twice: 64 MiB of log.
        return try store.writeAlone(pagesBetweenCheckpoints: 16_000, forgetsPages: forgetsPages, agreed)
    }
}
