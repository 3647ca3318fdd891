// Not an ordinary import: it would make every module that finds this one load the engine, and with it C modules that
// only targets depending on this package can (docs/decisions/008-the-engine-stays-out-of-sight.md).
@_implementationOnly import KeychainEngine
internal import KeychainModel
internal import KeychainPlaces

/// The engine in this process. Its types appear within functions only, never in a declaration.
enum EmbeddedEngine {
    static func open(_ location: StoreLocation) throws(KeychainError) -> any RequestHandler {
        try Engine(configuration(location))
    }

    /// Hands the store to this user's daemon, or takes it back from one that does not run.
    static func handOver(_ location: StoreLocation, toDaemon: Bool) throws(KeychainError) {
        let handover = StoreHandover(configuration(location))
        if toDaemon { try handover.giveToDaemon() } else { try handover.takeFromDaemon() }
    }

    static func repair(
        _ location: StoreLocation, passcode: () throws -> SecretBytes, progress: (Int, Int) -> Void
    ) throws(KeychainError) -> RepairReport {
        try StoreRepair(configuration(location)).run(passcode: passcode, progress: progress)
    }

    private static func configuration(_ location: StoreLocation) -> EngineConfiguration {
        var configuration = EngineConfiguration(
            storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        configuration.deviceKeyCredential = location.deviceKeyCredential
        configuration.biometry = HostDevices.biometryReader()
        return configuration
    }
}
