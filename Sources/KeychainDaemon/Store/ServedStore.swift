internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem
package import Logging
internal import Synchronization

/// The store of a daemon, with its caretakers. It is opened at the daemon's start, and if that fails, again for each
/// client that asks for it. That client is told the reason.
package final class ServedStore: Sendable {
    private struct State {
        var open: OpenStore?
        var lastFailure: String?
    }

    private struct OpenStore {
        let engine: any ChangeSource
        let housekeeper: Housekeeper
        /// nil: no watch is wanted.
        let watch: SessionThread?
    }

    let subscribers = Subscribers()
    private let manager: ServiceManager?
    private let watchesSessions: Bool
    private let logger: Logger
    private let openEngine: @Sendable () throws(KeychainError) -> any ChangeSource
    private let state = Mutex(State())
    /// Held while the store is being opened.
    private let turn = Condition()

    /// - Parameters:
    ///   - manager: The service manager, which is told the state of the store.
    ///   - watchesSessions: Whether it is locked with the user's sessions and the system's sleep.
    package init(
        manager: ServiceManager? = nil, watchesSessions: Bool = false, logger: Logger,
        openEngine: @escaping @Sendable () throws(KeychainError) -> any ChangeSource
    ) {
        self.manager = manager
        self.watchesSessions = watchesSessions
        self.logger = logger
        self.openEngine = openEngine
    }

    /// The engine, which is opened if it is not.
    ///
    /// - Parameter saysFailure: Whether the log and the service manager are told why the store cannot be opened.
    @discardableResult
    package func engine(saysFailure: Bool = true) throws(KeychainError) -> any ChangeSource {
        if let engine = engineIfOpen { return engine }
        // The lock of the state is not held: opening may wait for another process, and a mere look at the state does
        // not.
        turn.lock()
        defer { turn.unlock() }
        if let engine = engineIfOpen { return engine }
        let opened = Result { () throws(KeychainError) in try open() }
        switch opened {
        case .success(let open):
            state.withLock { $0 = State(open: open) }
            logger.info("the store is open")
            manager?.tell(status: "Serving the keychain")
        case .failure(let error): if saysFailure { note(error) }
        }
        return try opened.get().engine
    }

    /// Every client has the same answer until the cause is mended: it is logged once.
    private func note(_ error: KeychainError) {
        let former = state.withLock { state in
            defer { state.lastFailure = error.message }
            return state.lastFailure
        }
        if former == error.message { return }
        logger.error("the store cannot be opened: \(error.message)")
        manager?.tell(status: "There is no store: \(error.message)")
    }

    private func open() throws(KeychainError) -> OpenStore {
        let engine = try openEngine()
        let housekeeper = Housekeeper(engine, subscribers, logger)
        let watch = watchesSessions ? try SessionThread(engine, logger) : nil
        try housekeeper.start()
        do throws(KeychainError) {
            try watch?.start()
        } catch {
            // It would keep the engine, and with it the store from being opened again.
            housekeeper.stop()
            throw error
        }
        return OpenStore(engine: engine, housekeeper: housekeeper, watch: watch)
    }

    package var engineIfOpen: (any ChangeSource)? { state.withLock { $0.open?.engine } }

    /// Whether keys are in this process's memory that only a passcode would bring back.
    var hasKeysToLose: Bool {
        guard engineIfOpen != nil else { return false }
        guard let status = lockStatus else { return true }
        return status.hasPasscode && status.state != .neverUnlocked
    }

    /// nil: the state is not known.
    var lockStatus: LockStatus? {
        let reply = try? engineIfOpen?.handle(.lockStatus, from: Caller(groups: []))
        guard case .lockStatus(let status)? = reply else { return nil }
        return status
    }

    /// To be called when no request is under way any more, and none will come.
    package func close() {
        guard let open = state.withLock({ $0.open }) else { return }
        open.watch?.stop()
        open.housekeeper.stop()
        open.engine.prepareForExit()
    }
}
