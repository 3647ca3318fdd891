internal import FoundationEssentials
package import KeychainModel

/// The time in `lock-state`, read from outside of the engine.
package struct SeenTime {
    private let configuration: EngineConfiguration
    private let state: LockStateFile

    package init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        state = LockStateFile(
            configuration.storeDirectory.appendingPathComponent("lock-state"), configuration.files)
    }

    /// The latest date of expiry that was seen to have passed, if it is still to come.
    package var ahead: ExpiryDate? {
        guard let seen = state.read().flatMap({ ExpiryDate(milliseconds: $0.latestExpiry) }) else { return nil }
        return seen > ExpiryDate(clamping: configuration.clock.now) ? seen : nil
    }

    package func forget() throws(KeychainError) { try state.forgetExpired() }
}
