internal import KeychainLogin
internal import KeychainModel
internal import KeychainSystem

/// Tells the service manager at intervals that the daemon is well, after it was seen to be: the engine has answered.
///
/// One that hangs does not answer, so the manager hears nothing and starts the daemon anew.
final class Watchdog: Sendable {
    private let manager: ServiceManager
    private let admission: any Admission
    private let end = EndFlag()

    init(_ manager: ServiceManager, _ admission: any Admission) {
        self.manager = manager
        self.admission = admission
    }

    /// Does nothing if the service manager wants no signs.
    func start() throws(KeychainError) {
        guard let time = manager.watchdogTime else { return }
        try WorkerThread.start("watchdog") { [self] in
            while !end.isSet {
                // An error is an answer too, and a new start would not mend its cause.
                for store in admission.stores {
                    _ = try? store.engineIfOpen?.handle(.lockStatus, from: Caller(groups: []))
                }
                manager.tellAlive()
                end.wait(for: time / 2)
            }
        }
    }

    func stop() { end.set() }
}
