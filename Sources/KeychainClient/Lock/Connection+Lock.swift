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

    /// Unlocks a locked keychain with the passcode, which the person is asked for once in the session. One that the session
    /// has already is looked at in any case.
    package func unlock(_ asking: Asking) throws(KeychainError) {
        guard let session = asking.session else { return }
        if !session.factors.contains(.passcode) {
            if try lockStatus().state == .unlocked { return }
            do throws(AuthenticationFailure) {
                try authenticate([[.passcode]], in: session, reason: asking.reason)
            } catch {
                throw error.keychainError
            }
        }
        if let passcode = session.proof(of: [.passcode]).passcode { _ = try unlock(passcode) { _ in } }
    }

    /// Does something about the passcode, and the whole renewal of all keys that may belong to it.
    ///
    /// - Parameter report: Told how far the renewal has come, after each part of it.
    package func perform(
        _ request: PasscodeRequest, report: (RekeyProgress) -> Void
    ) throws(KeychainError) {
        try finishRekeying(from: try ask(.passcode(request)), report)
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
