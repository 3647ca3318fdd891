package import KeychainModel

extension Connection {
    package func lockStatus() throws(KeychainError) -> LockStatus {
        guard case .lockStatus(let status) = try perform(.lockStatus) else { throw .unexpectedReply }
        return status
    }

    /// Unlocks, and goes on with a renewal of all keys that was interrupted.
    ///
    /// - Parameter report: Told how far the renewal has come, after each part of it.
    /// - Returns: how the lock is at the end.
    package func unlock(
        _ passcode: SecretBytes, report: (RekeyProgress) -> Void
    ) throws(KeychainError) -> LockStatus {
        guard case .lockStatus(let status) = try perform(.unlock(passcode)) else { throw .unexpectedReply }
        guard status.isRekeying else { return status }
        try finishRekeying(from: try rekeyStep(), report)
        return try lockStatus()
    }

    /// Does something about the passcode, and the whole renewal of all keys that may belong to it.
    ///
    /// - Parameter report: Told how far the renewal has come, after each part of it.
    package func perform(
        _ request: PasscodeRequest, report: (RekeyProgress) -> Void
    ) throws(KeychainError) {
        switch try perform(.passcode(request)) {
        case .done: return
        case .rekeyed(let progress): try finishRekeying(from: progress, report)
        default: throw .unexpectedReply
        }
    }

    private func finishRekeying(
        from first: RekeyProgress, _ report: (RekeyProgress) -> Void
    ) throws(KeychainError) {
        var latest = first
        report(latest)
        while !latest.isFinished {
            latest = try rekeyStep()
            report(latest)
        }
    }

    private func rekeyStep() throws(KeychainError) -> RekeyProgress {
        guard case .rekeyed(let progress) = try perform(.rekeyStep) else { throw .unexpectedReply }
        return progress
    }
}

extension KeychainError {
    fileprivate static var unexpectedReply: KeychainError {
        KeychainError(.internalFailure, message: "the keychain answered something else than was asked")
    }
}
