internal import KeychainBiometry
internal import KeychainEngine
package import KeychainModel

/// `keychaind --user`: the store of the user that runs it.
package enum UserDaemon {
    package static func make(
        at location: StoreLocation, _ surroundings: Daemon.Surroundings
    ) throws(KeychainError) -> Daemon {
        let store = ServedStore(
            manager: surroundings.manager, watchesSessions: true, logger: surroundings.logger
        ) { () throws(KeychainError) in
            var configuration = EngineConfiguration(
                storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
            configuration.deviceKeyCredential = location.deviceKeyCredential
            configuration.biometry = FingerprintReader()
            configuration.serve(as: .user)
            return try Engine(configuration)
        }
        return try Daemon(surroundings, UserAdmission(store: store))
    }
}

extension EngineConfiguration {
    /// As a daemon has it: unlocked keys are in its own memory.
    mutating func serve(as host: StoreHost) {
        self.host = host
        mostBytesInAnswer = Limits.answerBytes
    }
}
