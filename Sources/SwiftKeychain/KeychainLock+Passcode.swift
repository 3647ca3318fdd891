public import Foundation
public import KeychainModel

extension KeychainLock {
    /// How far a renewal of all keys has come.
    public struct RenewalProgress: Sendable, Hashable {
        /// Items that need nothing more.
        public let done: Int
        public let total: Int
        /// Whether nothing is left to do. If ``done`` is less than ``total`` then, the other items are damaged: they do not
        /// open, and the former keys are kept for them.
        public let isFinished: Bool

        init(_ progress: RekeyProgress) {
            done = progress.done
            total = progress.total
            isFinished = progress.isFinished
        }
    }

    /// What follows from disuse and from wrong passcodes.
    public struct Policy: Sendable, Hashable {
        /// After this time without use the keychain locks itself; nil: it does not. In whole seconds, a part of
        /// one counting as one.
        public var idleLimit: Duration?

        /// Whether ten wrong passcodes in a row erase the keys that need one: every item but those accessible
        /// "always" is lost then, for everyone.
        public var erasesAfterTenFailures: Bool

        public init(idleLimit: Duration? = nil, erasesAfterTenFailures: Bool = false) {
            self.idleLimit = idleLimit
            self.erasesAfterTenFailures = erasesAfterTenFailures
        }
    }

    /// Sets the first passcode, which leaves the keychain unlocked.
    ///
    /// All keys are made anew, because old copies of the store hold the present ones without a passcode; that takes
    /// longer the more items there are. If the program ends meanwhile, the passcode is set and the next
    /// ``unlock(passcode:progress:)`` does the rest.
    ///
    /// - Parameters:
    ///   - passcode: The one that opens the keychain from now on.
    ///   - progress: Told how far it has come, after each part.
    /// - Throws: −25299 if a passcode is set already; −50, −25302 or −26275 if it is empty, too long or not UTF-8.
    public func setPasscode(
        _ passcode: some ContiguousBytes, progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        try perform(.set(SecretBytes(passcode)), progress)
    }

    /// Replaces the passcode.
    ///
    /// - Parameters:
    ///   - old: If it is wrong, that counts as an attempt to unlock.
    ///   - new: The one that opens the keychain from now on. A copy of the store that was made before still opens
    ///     with the old one.
    ///   - renewingKeys: Whether all keys are made anew too. Otherwise whoever has the old passcode, the device key
    ///     and an old copy of the store has the keys of what is stored from now on as well. It takes longer the more
    ///     items there are.
    ///   - progress: Told how far such a renewal has come, after each part.
    /// - Throws: −25293 if the old one is wrong or came too early, −25260 if none is set.
    public func changePasscode(
        from old: some ContiguousBytes, to new: some ContiguousBytes, renewingKeys: Bool = false,
        progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        try perform(.change(old: SecretBytes(old), new: SecretBytes(new), rekey: renewingKeys), progress)
    }

    /// Removes the passcode, so that the keychain is never locked any more.
    ///
    /// > Warning: It destroys every item that is accessible only while a passcode is set
    /// > (`kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`).
    ///
    /// - Parameter passcode: If it is wrong, that counts as an attempt to unlock.
    /// - Throws: −25293 if the passcode is wrong or came too early, −25260 if none is set.
    public func removePasscode(_ passcode: some ContiguousBytes) throws(KeychainError) {
        try perform(.remove(old: SecretBytes(passcode))) { _ in }
    }

    /// What follows from disuse and from wrong passcodes.
    public var policy: Policy {
        get throws(KeychainError) {
            let status = try status()
            return Policy(
                idleLimit: status.idleLimit.map { .seconds($0) },
                erasesAfterTenFailures: status.erasesAfterTenFailures)
        }
    }

    /// - Parameters:
    ///   - policy: What holds from now on, in both its parts.
    ///   - passcode: The present one. If it is wrong, that counts as an attempt to unlock.
    /// - Throws: −50 if the idle limit is not between a second and 366 days, −25293 if the passcode is wrong or
    ///   came too early, −25260 if none is set.
    public func setPolicy(_ policy: Policy, passcode: some ContiguousBytes) throws(KeychainError) {
        let request = PasscodePolicy(
            idleLimit: try policy.idleSeconds(), erasesAfterTenFailures: policy.erasesAfterTenFailures)
        try perform(.setPolicy(request, passcode: SecretBytes(passcode))) { _ in }
    }

    private func perform(_ request: PasscodeRequest, _ progress: (RenewalProgress) -> Void) throws(KeychainError) {
        try connection.perform(request) { progress(RenewalProgress($0)) }
    }
}

extension KeychainLock.Policy {
    /// Rounded up.
    fileprivate func idleSeconds() throws(KeychainError) -> Int? {
        guard let (whole, part) = idleLimit?.components else { return nil }
        let (seconds, isTooLong) = Int(clamping: whole).addingReportingOverflow(part > 0 ? 1 : 0)
        guard !isTooLong, part >= 0, PasscodePolicy.idleLimits.contains(seconds) else {
            throw .invalidIdleLimit
        }
        return seconds
    }
}
