internal import FoundationEssentials
internal import Glibc
package import KeychainCrypto
package import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Puts keys within reach of every process of the user, and takes them back.
extension KeyStore {
    /// The present lock, for ``publish(_:_:tiers:asOf:commit:)``.
    func moment() throws(KeychainError) -> LockRecord {
        var moment: LockRecord?
        try state.update { moment = $0 }
        return moment!
    }

    /// The present lock, for ``moveKeys(_:asOf:)``; nil if it is unknown.
    package var presentLock: LockRecord? { state.readOrMake() }

    /// Makes keys available to this process, and through the kernel's keyring to every process of the user.
    ///
    /// - Parameters:
    ///   - moment: The lock before the caller got the keys. If the store was locked since, the keys of the "when
    ///     unlocked" tier are left out.
    ///   - commit: Replaces the keybag. It runs when the keys are in place and no process is told yet.
    /// - Returns: false if the store was locked meanwhile.
    @discardableResult
    func publish(
        _ keys: StoreKeys, _ bag: Keybag, tiers: [KeyTier] = KeyTier.behindPasscode, asOf moment: LockRecord,
        commit: () throws(KeychainError) -> Void = {}
    ) throws(KeychainError) -> Bool {
        let now = configuration.clock.sinceBoot
        var wasLocked = false
        var published: LockRecord?
        let inactive = try bag.inactiveKeys(from: keys[.whenUnlocked])
        var sets: [KeyTier: KeySet] = [:]
        let isNew = ownKeyring?.find(blobName(.afterFirstUnlock, bagGeneration: bag.generation)) == nil
        try state.update { record throws(KeychainError) in
            wasLocked = record.lockedAt != moment.lockedAt
            if tiers.contains(.whenUnlocked) && !wasLocked { record.unlock(now) } else { record.epoch &+= 1 }
            // The keys that outlive a lock come with those that do not: a keybag that is replaced while locked ends them.
            for tier in tiers where tier == .afterFirstUnlock || tiers.contains(.whenUnlocked) && !wasLocked {
                sets[tier] = tier == .whenUserInactive ? inactive : keys[tier]
            }
            do throws(KeychainError) {
                try putOrKeep(sets, bag, record, now)
                try commit()
            } catch {
                if isNew { removeBlobs(of: tiers, bagGeneration: bag.generation) }
                throw error
            }
            published = record
        } then: {
            // A process that is told of the new epoch finds the keys in place, and a later lock takes them.
            guard keyring == nil, let published else { return }
            held.hold(sets, record: published, bag)
        }
        // A lock that did not wait for its turn came meanwhile.
        if let record = state.read(), record.lockedAt != moment.lockedAt, !wasLocked {
            removeBlobs(of: KeyTier.endingWithLock)
            held.release(KeyTier.endingWithLock)
            wasLocked = true
        }
        // From here on other processes look for the new keys. A process that is killed before leaves the former keys to
        // the next lock, which takes all keys of the store.
        removeBlobs(of: KeyTier.behindPasscode, exceptOf: bag.generation)
        return !wasLocked
    }

    /// Puts the keys into the keyring. If the keyring is full even without the keys of missing stores, only this
    /// process has the keys, as without a keyring.
    private func putOrKeep(
        _ sets: [KeyTier: KeySet], _ bag: Keybag, _ record: LockRecord, _ now: UInt64
    ) throws(KeychainError) {
        isKeyringFull.store(false, ordering: .relaxed)
        for mayTryAgain in [true, false] {
            do throws(KeychainError) {
                return try putBlobs(of: sets, bag, record, now)
            } catch {
                guard error.signal == .fullKeyring else { throw error }
                if mayTryAgain { removeBlobsOfMissingStores() }
            }
        }
        removeBlobs(of: Array(sets.keys), bagGeneration: bag.generation)
        isKeyringFull.store(true, ordering: .relaxed)
    }

    /// Removes the keys of directories that are gone or replaced.
    private func removeBlobsOfMissingStores() {
        guard let ownKeyring else { return }
        ownKeyring.removeAll { name, serial in
            // The name has "keychain", the store's id, its place, the keybag's generation and the tier.
            let parts = name.split(separator: ":")
            guard parts.count == 5, parts[0] == "keychain" else { return false }
            let stored: String? = try? ownKeyring.read(serial, capacity: KeyringPayload.mostBytes) {
                KeyringPayload($0)?.path
            }
            guard let path = stored else { return false }
            let isThere = StorePlace(URL(fileURLWithPath: path))?.name == String(parts[2])
            return !isThere && (FilePath.exists(path) || errno == ENOENT || errno == ENOTDIR)
        }
    }

    private func putBlobs(
        of sets: [KeyTier: KeySet], _ bag: Keybag, _ record: LockRecord, _ now: UInt64
    ) throws(KeychainError) {
        guard let keyring else { return }
        let binding = binding(bag, record)
        let key = try binding.key(deviceKey: deviceKey)
        for tier in KeyTier.behindPasscode {
            guard let set = sets[tier] else { continue }
            let blob = try set.sealed(under: key, context: binding.context(tier), randomness: configuration.randomness)
            let payload = KeyringPayload.bytes(
                of: tier == .whenUserInactive ? InactiveBlob.bytes(blob, lockTime: 0) : blob,
                in: configuration.storeDirectory)
            let lifetime = lifetime(of: tier, bag, record, now)
            try keyring.put(payload, as: blobName(tier, bagGeneration: bag.generation), lifetime: lifetime)
        }
    }

    /// Removes the keys from this keyring after a lock that reached only another one. An unlock that is under way puts
    /// its keys there before it writes the record, and is waited for. If that takes long, the keys stay: no process
    /// opens them.
    func removeMissedBlobs(_ bag: Keybag) {
        try? state.update(
            within: LockRecord.patience,
            { record throws(KeychainError) in
                if hasMissedBlobs(bag, record) { removeBlobs(of: KeyTier.endingWithLock) }
            }, then: {})
    }

    /// Removes the keys of a store from the keyring, whatever directory it was in.
    ///
    /// - Parameters:
    ///   - bagGeneration: The keybag whose keys are removed; nil: any.
    ///   - exceptOf: A keybag whose keys stay.
    /// - Returns: whether there were any.
    @discardableResult
    func removeBlobs(of tiers: [KeyTier], bagGeneration: UInt64? = nil, exceptOf kept: UInt64? = nil) -> Bool {
        let prefixes = formerPlaces.map(blobPrefix)
        return ownKeyring?.removeAll { name in
            tiers.contains { tier in
                prefixes.contains(where: name.hasPrefix) && name.hasSuffix(":\(tier.rawValue)")
                    && (bagGeneration.map { name == blobName(tier, bagGeneration: $0) } ?? true)
                    && (kept.map { name != blobName(tier, bagGeneration: $0) } ?? true)
            }
        } ?? false
    }

    /// Takes the keys of the former directory, and puts these keys into the keyring for the directory that replaced it.
    ///
    /// - Parameter moment: The lock when the keys were found within reach. After a later lock, and for nil, they stay
    ///   out of reach.
    package func moveKeys(_ keys: StoreKeys?, asOf moment: LockRecord?) throws(KeychainError) {
        removeBlobs(of: KeyTier.behindPasscode)
        forgetSnapshot()
        guard let keys else { return }
        try publish(keys, try keybagFile.load(deviceKey: deviceKey, expecting: storeID), asOf: moment ?? LockRecord())
    }

    /// Takes every key of the store from the kernel's keyring and from this process, as a restart of the system would.
    func withdraw() {
        removeBlobs(of: KeyTier.behindPasscode)
        held.release(KeyTier.behindPasscode)
        forgetSnapshot()
    }
}
