public import FoundationEssentials
public import KeychainModel

extension KeychainLock {
    /// The state of a renewal of all keys, which encrypts every item under new keys.
    public struct RenewalProgress: Sendable, Hashable {
        /// The number of items that need nothing more.
        public let done: Int
        /// The number of items that there are.
        public let total: Int
        /// Whether no work is left.
        ///
        /// If ``done`` is less than ``total`` then, the remaining items are damaged and do not open. The former keys
        /// are kept for them.
        public let isFinished: Bool

        init(_ progress: RekeyProgress) {
            done = progress.done
            total = progress.total
            isFinished = progress.isFinished
        }
    }

    /// The rules for a keychain that is not in use, for the time after a lock, and for wrong passcodes. They are stored
    /// with the keychain, for all programs.
    public struct Policy: Sendable, Hashable {
        /// The time without use after which the keychain locks itself. `nil` means that it does not.
        ///
        /// It is from one second to 366 days, in whole seconds; a part of a second counts as one.
        public var idleLimit: Duration?

        /// Whether ten wrong passcodes in a row erase the keys that need a passcode.
        ///
        /// Every item is lost then, except those that are accessible "always", and so is every protected file except
        /// those of the class `none`. The erasure does not reach copies: a backup of the store still opens with its
        /// passcode and its device key.
        public var erasesAfterTenFailures: Bool

        /// The time for which protected files of the class `completeWhenUserInactive` stay open after a lock. `nil`
        /// leaves the present time; a new keychain has ten minutes.
        ///
        /// It is up to a day, in whole seconds; a part of a second counts as one. With zero they close with the lock,
        /// like files of the class `complete`. Sleep, the end of the session and a lock at once end the time early.
        /// Programs with an older release inside do not open a keychain with another time than ten minutes.
        public var timeAfterLock: Duration?

        /// Makes a policy. The default neither locks nor erases.
        ///
        /// - Parameters:
        ///   - idleLimit: The time without use after which the keychain locks itself. `nil` means that it does not.
        ///   - erasesAfterTenFailures: Whether ten wrong passcodes in a row erase the keys that need a passcode.
        ///   - timeAfterLock: The time for which files of the class `completeWhenUserInactive` stay open after a lock. `nil`
        ///     leaves the present time.
        public init(
            idleLimit: Duration? = nil, erasesAfterTenFailures: Bool = false, timeAfterLock: Duration? = nil
        ) {
            self.idleLimit = idleLimit
            self.erasesAfterTenFailures = erasesAfterTenFailures
            self.timeAfterLock = timeAfterLock
        }
    }

    /// Sets the first passcode. The keychain stays unlocked.
    ///
    /// ```swift
    /// try lock.setPasscode(passcode) { progress in
    ///     print("\(progress.done) of \(progress.total) items")
    /// }
    /// ```
    ///
    /// The call makes all keys new, since old copies of the store hold the former ones without a passcode. It takes
    /// longer the more items there are. If the program ends meanwhile, the passcode is set, and the next
    /// ``unlock(passcode:progress:)`` does the rest.
    ///
    /// - Parameters:
    ///   - passcode: The passcode from now on.
    ///   - progress: Called on this thread after each part.
    /// - Throws: `KeychainError.Code.duplicateItem` (−25299) if a passcode is set already.
    ///   `KeychainError.Code.parameter` (−50), `.dataTooLarge` (−25302) or `.decode` (−26275) if the new one is empty,
    ///   too long or not UTF-8.
    public func setPasscode(
        _ passcode: some ContiguousBytes, progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        try perform(.set(SecretBytes(passcode)), progress)
    }

    /// Replaces the passcode.
    ///
    /// Without `renewingKeys` the call is quick and changes the passcode alone. A copy of the store from before still
    /// opens with the old passcode and its device key, and has the keys of items that are stored later too.
    ///
    /// - Parameters:
    ///   - old: The present passcode. A wrong one counts as an attempt to unlock.
    ///   - new: The passcode from now on.
    ///   - renewingKeys: Whether all keys are made new too. It takes longer the more items there are.
    ///   - progress: Called on this thread after each part of such a renewal.
    /// - Throws: `KeychainError.Code.authenticationFailed` (−25293) if the old one is wrong or came too early;
    ///   `KeychainError.Code.noPasscode` (−25260) if none is set; the errors of `setPasscode` for the new one.
    public func changePasscode(
        from old: some ContiguousBytes, to new: some ContiguousBytes, renewingKeys: Bool = false,
        progress: (RenewalProgress) -> Void = { _ in }
    ) throws(KeychainError) {
        try perform(.change(old: SecretBytes(old), new: SecretBytes(new), rekey: renewingKeys), progress)
    }

    /// Removes the passcode. The keychain is never locked from then on, and the device key alone opens it.
    ///
    /// > Warning: It destroys every item that is accessible only while a passcode is set
    /// > (`kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`), and every item whose key the passcode is a part of.
    ///
    /// - Parameter passcode: The present passcode. A wrong one counts as an attempt to unlock.
    /// - Throws: `KeychainError.Code.authenticationFailed` (−25293) if the passcode is wrong or came too early;
    ///   `KeychainError.Code.noPasscode` (−25260) if none is set.
    public func removePasscode(_ passcode: some ContiguousBytes) throws(KeychainError) {
        try perform(.remove(old: SecretBytes(passcode))) { _ in }
    }

    /// The present rules.
    ///
    /// - Throws: `KeychainError.Code.notAvailable` if the keychain cannot be opened.
    public var policy: Policy {
        get throws(KeychainError) {
            let status = try status()
            return Policy(
                idleLimit: status.idleLimit.map { .seconds($0) },
                erasesAfterTenFailures: status.erasesAfterTenFailures, timeAfterLock: .seconds(status.timeAfterLock))
        }
    }

    /// Replaces all rules of the policy, for all programs that use the keychain.
    ///
    /// ```swift
    /// try lock.setPolicy(KeychainLock.Policy(idleLimit: .seconds(600)), passcode: passcode)
    /// ```
    ///
    /// - Parameters:
    ///   - policy: The rules from now on.
    ///   - passcode: The present passcode. A wrong one counts as an attempt to unlock.
    /// - Throws: `KeychainError.Code.parameter` (−50) if the idle limit is not between a second and 366
    ///   days, or the time after a lock is over a day;
    ///   `KeychainError.Code.authenticationFailed` (−25293) if the passcode is wrong or came too early;
    ///   `KeychainError.Code.noPasscode` (−25260) if none is set.
    public func setPolicy(_ policy: Policy, passcode: some ContiguousBytes) throws(KeychainError) {
        let request = PasscodePolicy(
            idleLimit: try policy.idleLimit.map { limit throws(KeychainError) in
                try limit.wholeSeconds(in: PasscodePolicy.idleLimits, .invalidIdleLimit)
            },
            erasesAfterTenFailures: policy.erasesAfterTenFailures,
            timeAfterLock: try policy.timeAfterLock.map { time throws(KeychainError) in
                try time.wholeSeconds(in: PasscodePolicy.timesAfterLock, .invalidTimeAfterLock)
            })
        try perform(.setPolicy(request, passcode: SecretBytes(passcode))) { _ in }
    }

    private func perform(_ request: PasscodeRequest, _ progress: (RenewalProgress) -> Void) throws(KeychainError) {
        try connection.perform(request) { progress(RenewalProgress($0)) }
    }
}

extension Duration {
    /// The seconds, rounded up.
    fileprivate func wholeSeconds(
        in range: ClosedRange<Int>, _ error: KeychainError
    ) throws(KeychainError) -> Int {
        let (whole, part) = components
        let (seconds, isTooLong) = Int(clamping: whole).addingReportingOverflow(part > 0 ? 1 : 0)
        guard !isTooLong, part >= 0, range.contains(seconds) else { throw error }
        return seconds
    }
}
