internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem

/// Tells the service manager at intervals that the daemon is well, after it was seen to be: the engine has answered.
///
/// One that hangs does not answer, so the manager hears nothing and starts the daemon anew.
package final class Watchdog: Sendable {
    private let manager: ServiceManager
    private let store: ServedStore
    private let end = EndFlag()

    package init(_ manager: ServiceManager, _ store: ServedStore) {
        self.manager = manager
        self.store = store
    }

    /// Does nothing if the service manager wants no signs.
    package func start() throws(KeychainError) {
        guard let time = manager.watchdogTime else { return }
        try WorkerThread.start("watchdog") { [self] in
            while !end.isSet {
                // An error is an answer too, and a new start would not mend its cause.
                _ = try? store.engineIfOpen?.handle(.lockStatus, from: Caller(groups: []))
                manager.tellAlive()
                end.wait(for: time / 2)
            }
        }
    }

    package func stop() { end.set() }
}
