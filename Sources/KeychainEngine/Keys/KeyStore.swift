package import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
package import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Knows which keys of a store are within reach, and where (docs/key-hierarchy.md).
package final class KeyStore: Sendable {
    package let storeID: UUID
    let configuration: EngineConfiguration
    let deviceKey: KeyMaterial
    let keybagFile: KeybagFile
    let state: any LockStateKeeper
    let attempts: AttemptCounter
    /// nil if every process holds the keys that it unlocked itself.
    var keyring: KernelKeyring? { isKeyringFull.load(ordering: .relaxed) ? nil : ownKeyring }
    /// Keys are removed from it even when no more keys go in.
    let ownKeyring: KernelKeyring?
    /// Whether the keyring had no room for the keys of this process's last unlock.
    let isKeyringFull = Atomic(false)
    let held: HeldKeys

    private let snapshot: BriefLock<KeySnapshot?>
    private let places = BriefLock<[StorePlace]>([])

    /// Whether something in this process locks the store with the session.
    private let hasWatcher = Atomic(false)

    /// Opens the keys with the device key that the configuration names.
    ///
    /// - Parameter signal: Given after each change of the lock, if this process has the store alone.
    package convenience init(
        _ configuration: EngineConfiguration, keybagFile: KeybagFile, signal: ChangeSignal = ChangeSignal()
    ) throws(KeychainError) {
        try self.init(
            configuration, keybagFile: keybagFile, deviceKey: try configuration.deviceKeyProvider.load(),
            signal: signal)
    }

    init(
        _ configuration: EngineConfiguration, keybagFile: KeybagFile, deviceKey: KeyMaterial,
        signal: ChangeSignal = ChangeSignal()
    ) throws(KeychainError) {
        let bag = try keybagFile.load(deviceKey: deviceKey)
        storeID = bag.storeID
        self.configuration = configuration
        self.deviceKey = deviceKey
        self.keybagFile = keybagFile
        state =
            configuration.host.isDaemon
            ? LockStateMemory(signal)
            : LockStateFile(configuration.storeDirectory.appendingPathComponent("lock-state"), configuration.files)
        attempts = AttemptCounter(configuration, storeID: bag.storeID, deviceKey: deviceKey)
        // A set-user-ID program would reach the keyring of the user that runs it, and miss the locks of the owner.
        let isOwnersKeyring = configuration.host == .embedded && getuid() == geteuid()
        ownKeyring = configuration.usesKeyring && isOwnersKeyring ? KernelKeyring.ofUser : nil
        held =
            configuration.host.isDaemon
            ? HeldKeys(state, configuration.clock)
            : HeldKeys.of(bag.storeID, configuration.storeDirectory, state, configuration.clock)
        snapshot = BriefLock(nil)
        _ = place
    }

    var isWatchedHere: Bool { hasWatcher.load(ordering: .relaxed) }

    func setWatched(_ isWatched: Bool) { hasWatcher.store(isWatched, ordering: .relaxed) }

    /// Runs `body` while no other process makes the store, changes its keybag or tries a passcode.
    package func withStoreLock<R>(_ body: () throws -> R) throws -> R {
        try configuration.withStoreLock {
            // A leftover keybag may be one that opens without the passcode.
            keybagFile.removeLeftover()
            attempts.removeLeftover()
            // The store may have changed hands during the wait: then its keys belong to another host.
            try requireOurs()
            return try body()
        }
    }

    private func requireOurs() throws(KeychainError) {
        let present = try HostMark(configuration).read()
        guard present != configuration.host else { return }
        throw configuration.host.isDaemon
            ? .wasGivenUp(configuration.storeDirectory) : .belongs(configuration.storeDirectory, to: present)
    }

    // MARK: Operations

    /// The keys for one operation.
    ///
    /// - Parameter isLastAttempt: Whether the operation was begun anew several times already, because rows are under
    ///   keys that the keybag lacks, and will always lack.
    package func begin(isLastAttempt: Bool = false) throws(KeychainError) -> KeySession {
        guard let record = state.readOrMake() else {
            return KeySession(
                self, try look(LockRecord()), latestExpiry: .earliest, isLastAttempt: isLastAttempt)
        }
        let result = snapshot.withLock { known -> Result<KeySnapshot, KeychainError> in
            if let known, known.record.epoch == record.epoch { return .success(known) }
            return Result { () throws(KeychainError) in
                let fresh = try look(record)
                known = fresh
                return fresh
            }
        }
        return KeySession(
            self, try result.get(), latestExpiry: ExpiryDate(milliseconds: record.latestExpiry) ?? .earliest,
            isLastAttempt: isLastAttempt)
    }

    /// Records a date of expiry that has passed.
    func noteExpired(_ date: ExpiryDate) { state.noteExpired(date.milliseconds) }

    /// Whether the lock or the keybag has changed since a session began, so that its refusals are not final.
    func hasChanged(since session: KeySession) -> Bool {
        guard let record = state.read() else { return false }
        return record.epoch != session.snapshot.record.epoch
    }

    /// Makes the next operation read the keybag and the lock again.
    func forgetSnapshot() {
        snapshot.withLock { $0 = nil }
        state.reopen()
    }

    /// Reads the keybag and finds the unlocked keys.
    private func look(_ record: LockRecord) throws(KeychainError) -> KeySnapshot {
        // A daemon gives its store up only on a request to itself.
        if configuration.host == .embedded { try requireOurs() }
        let bag = try keybagFile.load(deviceKey: deviceKey, expecting: storeID)
        let keys = try KeybagFile.usable { () throws(KeychainError) in try bag.unwrap(deviceKey: deviceKey) }
        guard bag.passcode != nil else {
            return KeySnapshot(
                record: record, bag: bag, always: keys[.always], afterFirstUnlock: keys[.afterFirstUnlock],
                whenUnlocked: .unprotected(keys[.whenUnlocked]), keyringKey: nil)
        }
        let binding = binding(bag, record)
        let keyringKey = try binding.key(deviceKey: deviceKey)
        guard let keyring else {
            let name = KeyName.index(.afterFirstUnlock)
            let isCurrent = held.afterFirstUnlock?.contains(name, generation: bag.keyGeneration) ?? false
            return KeySnapshot(
                record: record, bag: bag, always: keys[.always],
                afterFirstUnlock: isCurrent ? held.afterFirstUnlock : nil,
                whenUnlocked: .process, keyringKey: keyringKey)
        }
        let serial = keyring.find(blobName(.whenUnlocked, bagGeneration: bag.generation))
        let former = keyring.find(blobName(.afterFirstUnlock, bagGeneration: bag.generation))
        let afterFirstUnlock = try former.flatMap { serial throws(KeychainError) in
            try readBlob(serial, keyringKey, binding.context(.afterFirstUnlock), keyring)
        }
        // The keyring is a cache. A lock that emptied the keyring of another user namespace is in the record alone.
        if hasMissedBlobs(bag, record) { removeMissedBlobs(bag) }
        return KeySnapshot(
            record: record, bag: bag, always: keys[.always], afterFirstUnlock: afterFirstUnlock,
            whenUnlocked: record.isLocked ? .locked : serial.map { .keyring($0) } ?? .locked, keyringKey: keyringKey)
    }

    /// The keys of the "when unlocked" tier; nil if the store is locked. The call counts as a use of them.
    func fetchWhenUnlocked(_ snapshot: KeySnapshot) throws(KeychainError) -> KeySet? {
        guard let keys = try available(snapshot) else {
            // The keys have expired, or were replaced without a notice: the next operation looks again.
            forgetSnapshot()
            return nil
        }
        noteUse(snapshot)
        return keys
    }

    /// The keys of the "when unlocked" tier, without counting as a use.
    func available(_ snapshot: KeySnapshot) throws(KeychainError) -> KeySet? {
        switch snapshot.whenUnlocked {
        case .unprotected(let keys):
            return keys
        case .process:
            return held.whenUnlocked(snapshot.bag.policy)
        case .keyring(let serial):
            // The kernel's own time-out follows the wall clock, which can be set.
            let now = configuration.clock.sinceBoot
            guard let record = state.read(), !record.isLocked,
                !record.isIdle(limit: snapshot.bag.policy.idleLimit, now: now), !record.isWatcherGone(now: now),
                let keyring, let key = snapshot.keyringKey
            else { return nil }
            let context = KeyringBinding.context(.whenUnlocked, storeID, lockedAt: record.lockedAt, boot: Self.boot)
            return try readBlob(serial, key, context, keyring)
        case .locked:
            return nil
        }
    }

    /// - Throws: `.interactionNotAllowed` if the store was locked since the snapshot and the grace is over.
    func requireWithinGrace(_ snapshot: KeySnapshot) throws(KeychainError) {
        // A missing or damaged record counts as a lock without grace.
        if let record = state.read(),
            record.lockedAt == snapshot.record.lockedAt || record.isWithinGrace(configuration.clock.sinceBoot)
        {
            return
        }
        throw KeychainError(.interactionNotAllowed, message: "the keychain was locked while this call was in progress")
    }

    /// - Throws: if the store has gone to another host since the snapshot.
    func requireHost(_ snapshot: KeySnapshot) throws(KeychainError) {
        // A handover changes the lock, too.
        guard configuration.host == .embedded, state.read()?.epoch != snapshot.record.epoch else { return }
        try requireOurs()
    }

    // MARK: The kernel's keyring

    /// Each keybag's keys have a name of their own: while one keybag replaces another, both have their keys in the
    /// keyring.
    func blobName(_ tier: KeyTier, bagGeneration: UInt64) -> String {
        "\(blobPrefix(of: place))\(bagGeneration):\(tier.rawValue)"
    }

    /// The beginning of the names of all keys of the store in a directory. A copy of the store has another one.
    func blobPrefix(of place: StorePlace) -> String { "keychain:\(storeID.uuidString.lowercased()):\(place.name):" }

    /// The store's directory, whatever its path; the last known one, if the present one cannot be told.
    var place: StorePlace {
        let present = StorePlace(configuration.storeDirectory)
        return places.withLock { places in
            guard let present else { return places.last ?? StorePlace(device: 0, number: 0) }
            if places.last != present { places = places.filter { $0 != present } + [present] }
            return present
        }
    }

    /// All directories of the store while this process had it open: a lock takes the keys of each.
    var formerPlaces: [StorePlace] {
        _ = place
        return places.withLock { $0 }
    }

    static let boot = SystemStart.id ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    func binding(_ bag: Keybag, _ record: LockRecord) -> KeyringBinding {
        let place = place
        return KeyringBinding(
            storeID: storeID, device: UInt64(place.device), inode: UInt64(place.number), bag: bag,
            lockedAt: record.lockedAt, boot: Self.boot)
    }

    /// nil if the key is gone, or is not ours: the keyring is open to every program of the user.
    func readBlob(
        _ serial: Int32, _ key: KeyMaterial, _ context: KeyContext, _ keyring: KernelKeyring
    ) throws(KeychainError) -> KeySet? {
        try keyring.read(serial, capacity: KeyringPayload.mostBytes) { bytes throws(KeychainError) in
            try KeyringPayload(bytes).flatMap { payload throws(KeychainError) in
                try KeySet(opening: payload.sealed, under: key, context: context)
            }
        }
    }

    // MARK: Disuse

    /// Puts off the lock that comes after a time without use.
    private func noteUse(_ snapshot: KeySnapshot) {
        guard snapshot.bag.passcode != nil, let limit = snapshot.bag.policy.idleLimit else { return }
        let now = configuration.clock.sinceBoot
        guard held.shouldNoteUse(at: now, limit: limit) else { return }
        // A use does not put off a lock that was announced.
        if state.read()?.isLocking(now) ?? false { return }
        state.noteUse(at: now)
        if case .keyring = snapshot.whenUnlocked, let record = state.read() { setLifetimes(snapshot.bag, record, now) }
    }
}
