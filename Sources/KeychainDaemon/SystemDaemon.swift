package import FoundationEssentials
internal import KeychainBiometry
internal import KeychainEngine
package import KeychainManifests
package import KeychainModel

/// `keychaind --system`: a store for each user of the machine.
package enum SystemDaemon {
    /// - Parameters:
    ///   - state: Its own directory. The stores are in `stores`, by the numbers of their users.
    ///   - deviceKey: A credential with the device key of all stores; nil: it is in `device-key`.
    package static func make(
        state: URL, deviceKey: URL?, _ manifests: ManifestDirectories, _ surroundings: Daemon.Surroundings
    ) throws(KeychainError) -> Daemon {
        let users = UserStores(in: state, watchesSessions: true, surroundings.logger) {
            user, account, directory throws(KeychainError) in
            var configuration = EngineConfiguration(
                storeDirectory: directory, deviceKeyDirectory: state.appendingPathComponent("device-key"))
            configuration.deviceKeyCredential = deviceKey
            configuration.biometry = FingerprintReader(of: user, named: account)
            configuration.serve(as: .system)
            return try Engine(configuration)
        }
        return try Daemon(
            surroundings, SystemAdmission(users, manifests, surroundings.logger))
    }
}
