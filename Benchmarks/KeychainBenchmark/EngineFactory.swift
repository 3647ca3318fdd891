internal import Foundation
internal import KeychainEngine

/// The one place that knows how an engine is made.
///
/// The device key lies where the command `keychain` looks for it when `KEYCHAIN_HOME` is `directory` and
/// `XDG_STATE_HOME` is its folder `state` (see `ProcessBenchmark`).
///
/// - Parameter passcodeCost: What new passcodes cost, if not as much as in production.
func makeEngine(directory: URL, durable: Bool, passcodeCost: Int? = nil) throws -> Engine {
    var configuration = EngineConfiguration(
        storeDirectory: directory.appendingPathComponent("store"),
        deviceKeyDirectory: directory.appendingPathComponent("state/keychain"))
    configuration.isDurable = durable
    if let passcodeCost { configuration.passcodeCost = passcodeCost }
    return try Engine(configuration)
}
