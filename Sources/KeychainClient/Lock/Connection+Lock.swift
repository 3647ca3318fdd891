package import KeychainModel

extension Connection {
    package func lockStatus() throws(KeychainError) -> LockStatus { try ask(.lockStatus) }

    package func lock(_ request: LockRequest) throws(KeychainError) { try ask(.done(.lock(request))) }

    /// Unlocks, and goes on with a renewal of all keys that was interrupted.
    ///
    /// - Parameter report: Told how far the renewal has come, after each part of it.
    /// - Returns: how the lock is at the end.
    package func unlock(
        _ passcode: SecretBytes, report: (RekeyProgress) -> Void
    ) throws(KeychainError) -> LockStatus {
        let status = try ask(.unlock(passcode))
        guard status.isRekeying else { return status }
        try finishRekeying(from: try ask(.rekeyStep), report)
        return try lockStatus()
    }

    /// Does something about the passcode, and the whole renewal of all keys that may belong to it.
    ///
    /// - Parameter report: Told how far the renewal has come, after each part of it.
    package func perform(
        _ request: PasscodeRequest, report: (RekeyProgress) -> Void
    ) throws(KeychainError) {
        try finishRekeying(from: try ask(.passcode(request)), report)
        // An older daemon ignores the time, which is a setting of security.
        if case .setPolicy(let policy, _) = request, let time = policy.timeAfterLock,
            try lockStatus().timeAfterLock != time
        {
            throw KeychainError(
                .unimplemented,
                message: "this keychaind is too old to keep files open for a time after a lock, or to be told not to; "
                    + "the rest of the policy is set. Update keychaind")
        }
    }

    /// - Parameter first: nil: there is none.
    private func finishRekeying(
        from first: RekeyProgress?, _ report: (RekeyProgress) -> Void
    ) throws(KeychainError) {
        var latest = first
        while let progress = latest {
            report(progress)
            latest = progress.isFinished ? nil : try ask(.rekeyStep)
        }
    }
}
