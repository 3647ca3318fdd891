internal import Foundation
internal import KeychainEngine
internal import KeychainModel

/// The one place that knows how an engine is made.
///
/// The device key lies where the command `keychainctl` looks for it when `KEYCHAIN_HOME` is `directory` and
/// `XDG_STATE_HOME` is its folder `state` (see `ProcessBenchmark`).
///
/// - Parameter passcodeCost: What new passcodes cost, if not as much as in production.
func makeEngine(directory: URL, durable: Bool, passcodeCost: Int? = nil) throws -> Engine {
    var configuration = engineConfiguration(directory: directory)
    configuration.isDurable = durable
    if let passcodeCost { configuration.passcodeCost = passcodeCost }
    return try Engine(configuration)
}

private func engineConfiguration(directory: URL) -> EngineConfiguration {
    EngineConfiguration(
        storeDirectory: directory.appendingPathComponent("store"),
        deviceKeyDirectory: directory.appendingPathComponent("state/keychain"))
}

extension StoreLayout {
    /// From now on the engine's store opens in a `keychaind` alone.
    func giveToDaemon() throws { try StoreHandover(engineConfiguration(directory: engine)).handOver(to: .user) }

    /// To be called when no `keychaind` has it open any more.
    func takeFromDaemon() throws { try StoreHandover(engineConfiguration(directory: engine)).handOver(to: .embedded) }
}
