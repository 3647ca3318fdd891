// Not an ordinary import: it would make every module that finds this one load the engine, and with it C modules that
// only targets depending on this package can (docs/decisions/008-the-engine-stays-out-of-sight.md).
@_implementationOnly import KeychainEngine
internal import KeychainModel

/// The engine in this process. Its types appear within functions only, never in a declaration.
enum EmbeddedEngine {
    static func open(_ location: StoreLocation) throws(KeychainError) -> any RequestHandler {
        var configuration = EngineConfiguration(
            storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        configuration.deviceKeyCredential = location.deviceKeyCredential
        return try Engine(configuration)
    }

    static func repair(
        _ location: StoreLocation, passcode: () throws -> SecretBytes, progress: (Int, Int) -> Void
    ) throws(KeychainError) -> RepairReport {
        var configuration = EngineConfiguration(
            storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        configuration.deviceKeyCredential = location.deviceKeyCredential
        return try StoreRepair(configuration).run(passcode: passcode, progress: progress)
    }
}
