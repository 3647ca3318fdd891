package import KeychainCrypto
package import KeychainModel

/// Changes of the keybag. Each leaves either the old file or the new one, even if it is cut short.
extension KeyStore {
    /// Sets the first passcode. All keys are made anew, because copies of the old keybag need no passcode; the rows
    /// follow one by one.
    ///
    /// - Throws: `.duplicateItem` if there is a passcode.
    func setPasscode(_ passcode: SecretBytes) throws {
        try Passcode.check(passcode)
        try withStoreLock {
            var bag = try keybagFile.load(deviceKey: deviceKey, expecting: storeID)
            guard bag.passcode == nil else { throw KeychainError.passcodeIsSet }
            try requireRekeyable(bag)
            let parameters = try PasscodeParameters.make(
                cost: UInt8(clamping: configuration.passcodeCost), randomness: configuration.randomness)
            let derived = try PasscodeKey(passcode, parameters, storeID: storeID, deviceKey: deviceKey)
            let moment = try moment()
            let keys = try bag.unwrap(deviceKey: deviceKey)
            try keys.addGeneration(
                bag.keyGeneration + 1, hasPasscode: true, randomness: configuration.randomness)
            bag.passcode = parameters
            bag.consent = try ConsentPair.make(
                storeID: storeID, passcodeKey: derived.key, randomness: configuration.randomness)
            try attempts.reset()
            try replace(&bag, keys, passcodeKey: derived.key, asOf: moment)
        }
        forgetSnapshot()
    }

    /// Wraps the keys under another passcode, and adds a new generation of them on request.
    ///
    /// - Parameter isPairLost: Passed to ``completeConsent(of:_:isLost:)``.
    func changePasscode(
        from old: SecretBytes, to new: SecretBytes, rekey: Bool, isPairLost: () throws -> Bool
    ) throws {
        try Passcode.check(new)
        try withStoreLock {
            var bag = try requirePasscode()
            if rekey { try requireRekeyable(bag) }
            let moment = try moment()
            let (keys, oldKey) = try open(bag, with: old)
            let present = try tiersInReach()
            let parameters = try PasscodeParameters.make(
                cost: UInt8(clamping: configuration.passcodeCost), randomness: configuration.randomness)
            let derived = try PasscodeKey(new, parameters, storeID: storeID, deviceKey: deviceKey)
            if rekey {
                try keys.addGeneration(bag.keyGeneration + 1, hasPasscode: true, randomness: configuration.randomness)
            }
            bag.passcode = parameters
            if try !completeConsent(of: &bag, derived.key, isLost: isPairLost) {
                try rewrapConsent(of: &bag, from: oldKey, to: derived.key)
            }
            // A renewal needs all keys, and a person who knows the passcode may have them.
            try replace(
                &bag, keys, passcodeKey: derived.key, tiers: rekey ? KeyTier.behindPasscode : present, asOf: moment)
        }
        forgetSnapshot()
    }

    /// Wraps the keys under the device key alone, except keys that exist only with a passcode.
    func removePasscode(_ old: SecretBytes) throws {
        try withStoreLock {
            var bag = try requirePasscode()
            let (keys, _) = try open(bag, with: old)
            bag.passcode = nil
            bag.consent = nil
            bag.policy = PasscodePolicy()
            try replaceUnprotected(&bag, try keys.filtered { name, _ in !name.needsPasscode })
        }
    }

    func setPolicy(_ policy: PasscodePolicy, passcode: SecretBytes) throws {
        try policy.requireTimes()
        try withStoreLock {
            var bag = try requirePasscode()
            let moment = try moment()
            let (keys, passcodeKey) = try open(bag, with: passcode)
            let present = try tiersInReach()
            let timeAfterLock = policy.timeAfterLock ?? bag.policy.timeAfterLock
            bag.policy = policy
            bag.policy.timeAfterLock = timeAfterLock == PasscodePolicy.usualTimeAfterLock ? nil : timeAfterLock
            try replace(&bag, keys, passcodeKey: passcodeKey, tiers: present, asOf: moment)
        }
        forgetSnapshot()
    }

    /// Drops the older generation of keys, which no row needs any more. Files may need it, so the keys of files are
    /// retired.
    func finishRekey() throws {
        try withStoreLock {
            var bag = try keybagFile.load(deviceKey: deviceKey, expecting: storeID)
            guard bag.isRekeying else { return }
            let newest = bag.keyGeneration
            let moment = try moment()
            forgetSnapshot()
            let session = try begin()
            guard session.snapshot.bag.generation == bag.generation else { throw KeychainError.staleKeys }
            let all = try StoreKeys(session)
            // The keys that a process holds by itself may be older than the renewal.
            for entry in bag.entries where !all[entry.key.tier].contains(entry.key, generation: entry.generation) {
                throw session.lockedError(entry.key.tier)
            }
            let keys = try all.filtered { _, generation in generation == newest }
            try bag.dropFormerKeys(all)
            bag.generation += 1
            let finished = bag
            let commit = { () throws(KeychainError) in
                try self.keybagFile.replace(with: finished, deviceKey: self.deviceKey)
            }
            if bag.passcode == nil {
                try commit()
                try announce()
            } else {
                try publish(keys, bag, asOf: moment, commit: commit)
            }
        }
        forgetSnapshot()
    }

    // MARK: Erasing

    /// Destroys the keys behind the passcode, and makes fresh ones, as in a new store. The owner can choose this for
    /// ten wrong passcodes. The "always" keys stay.
    ///
    /// - Returns: the error for the caller.
    func erase(_ bag: Keybag) throws(KeychainError) -> KeychainError {
        var bag = bag
        let keys = try bag.unwrap(deviceKey: deviceKey).filtered { name, _ in name.tier == .always }
        try keys.addGeneration(bag.keyGeneration + 1, hasPasscode: false, randomness: configuration.randomness)
        bag.passcode = nil
        bag.consent = nil
        bag.policy = PasscodePolicy()
        // The keys that the other retired keys are wrapped under are gone.
        bag.retired.removeAll { $0.key.tier != .always }
        try replaceUnprotected(&bag, keys)
        try attempts.reset()
        return KeychainError(
            .authenticationFailed,
            message: "the passcode is wrong. It was the tenth, so every item that it protected is erased")
    }

    // MARK: Parts

    /// Replaces the keybag by one with a passcode, and the keys in the keyring with it, so that every process finds
    /// both or neither.
    ///
    /// - Returns: false if the store was locked since `moment`, so that some of the keys are left out.
    @discardableResult
    func replace(
        _ bag: inout Keybag, _ keys: StoreKeys, passcodeKey: KeyMaterial, tiers: [KeyTier] = KeyTier.behindPasscode,
        asOf moment: LockRecord
    ) throws(KeychainError) -> Bool {
        bag.generation += 1
        try bag.wrap(keys, deviceKey: deviceKey, passcodeKey: passcodeKey)
        let made = bag
        return try publish(keys, made, tiers: tiers, asOf: moment) { () throws(KeychainError) in
            try keybagFile.replace(with: made, deviceKey: deviceKey)
        }
    }

    /// Replaces the keybag by one without a passcode. The keys in the keyring become useless.
    private func replaceUnprotected(_ bag: inout Keybag, _ keys: StoreKeys) throws(KeychainError) {
        bag.generation += 1
        try bag.wrap(keys, deviceKey: deviceKey, passcodeKey: nil)
        // The change is announced before and after: a process that goes on with the former keys might write rows that
        // cannot be read any more.
        withdraw()
        try announce()
        try keybagFile.replace(with: bag, deviceKey: deviceKey)
        try announce()
    }

    /// Tells other processes that there is another keybag, or another version of the tables.
    func announce() throws(KeychainError) {
        // The change has happened, so it is told even if another process holds the record.
        do throws(KeychainError) {
            try state.update { $0.epoch &+= 1 }
        } catch {
            try state.force { $0.epoch &+= LockRecord.forcedStep }
        }
        forgetSnapshot()
    }

    /// Makes the missing pair of keys of a passcode that is older than such pairs.
    ///
    /// - Parameter isLost: Whether secrets are sealed for a pair. A new pair would open none of them, so none is made
    ///   then.
    /// - Returns: whether the pair was made.
    func completeConsent(
        of bag: inout Keybag, _ passcodeKey: KeyMaterial, isLost: () throws -> Bool
    ) throws -> Bool {
        guard bag.consent == nil, try !isLost() else { return false }
        bag.consent = try ConsentPair.make(
            storeID: storeID, passcodeKey: passcodeKey, randomness: configuration.randomness)
        return true
    }

    /// Wraps the pair under a new passcode.
    private func rewrapConsent(of bag: inout Keybag, from old: KeyMaterial, to new: KeyMaterial) throws(KeychainError) {
        guard var consent = bag.consent else { return }
        let privateKey = try KeybagFile.usable { () throws(KeychainError) in
            try consent.unwrap(storeID: storeID, passcodeKey: old)
        }
        try consent.wrap(privateKey, storeID: storeID, passcodeKey: new)
        bag.consent = consent
    }

    /// The key that opens secrets sealed with the passcode.
    ///
    /// - Parameter isPairLost: Passed to ``completeConsent(of:_:isLost:)``.
    /// - Throws: `.noPasscode`, `.authenticationFailed` for a wrong passcode and while the caller has to wait, or
    ///   `.notAvailable` if the keybag has lost the pair.
    func consentKey(_ passcode: SecretBytes, isPairLost: () throws -> Bool) throws -> ConsentKey {
        try withStoreLock {
            var bag = try requirePasscode()
            let moment = try moment()
            let (keys, passcodeKey) = try open(bag, with: passcode)
            if try completeConsent(of: &bag, passcodeKey, isLost: isPairLost) {
                try replace(&bag, keys, passcodeKey: passcodeKey, tiers: try tiersInReach(), asOf: moment)
            }
            guard let pair = bag.consent else { throw KeychainError.consentPairLost }
            let privateKey = try KeybagFile.usable { () throws(KeychainError) in
                try pair.unwrap(storeID: storeID, passcodeKey: passcodeKey)
            }
            return ConsentKey(publicKey: pair.publicKey, privateKey: privateKey)
        }
    }

    private func requireRekeyable(_ bag: Keybag) throws(KeychainError) {
        guard bag.keyGenerations.count < Keybag.mostGenerationsInUse else { throw KeychainError.renewalsUnfinished }
        guard bag.mayBeRekeyed else { throw KeychainError.tooManyRenewals }
    }

    /// The tiers whose keys any process could use at this moment.
    private func tiersInReach() throws(KeychainError) -> [KeyTier] {
        let session = try begin()
        var tiers: [KeyTier] = []
        for tier in KeyTier.behindPasscode where try session.set(of: tier) != nil { tiers.append(tier) }
        return tiers
    }
}

extension KeychainError {
    fileprivate static var consentPairLost: KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "the keybag has lost the key pair that secrets are sealed for with the passcode: put the file keybag "
                + "back from a backup; 'keychainctl doctor' says more", signal: .unusableKeybag)
    }

    fileprivate static var tooManyRenewals: KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "all keys were renewed \(Keybag.mostRetiredGenerations) times already, and those of protected files "
                + "are all kept: move everything to a new keychain")
    }

    fileprivate static var renewalsUnfinished: KeychainError {
        KeychainError(
            .notAvailable,
            message: "\(Keybag.mostGenerationsInUse - 1) earlier renewals of all keys are not finished. "
                + "'keychainctl unlock' goes on with them; if items do not open, 'keychainctl doctor --repair' first")
    }
}

extension StoreKeys {
    /// The keys of a session.
    ///
    /// - Throws: `.interactionNotAllowed` unless all keys are within reach.
    package init(_ session: KeySession) throws(KeychainError) {
        try self.init()
        for tier in KeyTier.ofKeybag {
            guard let set = try session.set(of: tier) else { throw session.lockedError(tier) }
            for (name, generation) in set.names {
                try set.withKey(name, generation: generation) { key throws(KeychainError) in
                    try add(name, generation: generation) { $0.copyMemory(from: key) }
                }
            }
        }
    }
}
