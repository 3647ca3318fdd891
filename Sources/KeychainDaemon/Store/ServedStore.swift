package import Glibc
package import KeychainLogin
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
        var clientCount = 0
        /// Since when it has had no client.
        var idleSince = ContinuousClock.now
        /// A thread is about to lock it.
        var willBeLocked = false
    }

    private struct OpenStore {
        let engine: any ChangeSource
        let housekeeper: Housekeeper
        /// nil: no watch is wanted.
        let watch: SessionThread?
    }

    /// Its owner.
    package let user: uid_t
    let subscribers = Subscribers()
    /// Why its connections end, while the daemon stays.
    let ending = Ending()
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
        of user: uid_t = geteuid(), manager: ServiceManager? = nil, watchesSessions: Bool = false, logger: Logger,
        openEngine: @escaping @Sendable () throws(KeychainError) -> any ChangeSource
    ) {
        self.user = user
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
            state.withLock { ($0.open, $0.lastFailure) = (open, nil) }
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
        let watch = watchesSessions ? try SessionThread(engine, of: user, logger) : nil
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

    // MARK: Locking

    /// Locks it if it is open: a store that is not open has no keys.
    func lock() {
        guard let engine = engineIfOpen else { return }
        let wasUnlocked = lockStatus?.state == .unlocked
        do throws(KeychainError) {
            _ = try engine.handle(.lock(.now), from: Caller(groups: [], authority: .owner))
            // Any program may ask for it as often as it likes.
            if wasUnlocked { logger.notice("the keychain was locked", metadata: ["uid": "\(user)"]) }
        } catch {
            logger.error("the keychain was not locked", metadata: ["reason": "\(error.message)"])
        }
    }

    /// Locks it on a thread of its own, of which there is one at a time.
    func lockSoon() {
        let isFirst = state.withLock { state in
            defer { state.willBeLocked = true }
            return !state.willBeLocked
        }
        guard isFirst else { return }
        let lockNow: @Sendable () -> Void = { [self] in
            // A request that comes from now on has a lock of its own.
            state.withLock { $0.willBeLocked = false }
            lock()
        }
        // Without a further thread the caller waits.
        if (try? WorkerThread.start("lock", lockNow)) == nil { lockNow() }
    }

    // MARK: Closing

    func enter() { state.withLock { $0.clientCount += 1 } }

    func leave() {
        let isLast = state.withLock { state in
            state.clientCount -= 1
            state.idleSince = .now
            return state.clientCount == 0
        }
        // The next client is told where the store is now.
        if isLast && ending.goodbye != nil { close(ifIdleFor: .zero) }
    }

    /// Closes it if no client has used it for so long and no key is lost with it. The next client opens it again.
    func close(ifIdleFor time: Duration) {
        turn.lock()
        defer { turn.unlock() }
        guard ending.goodbye != nil || !hasKeysToLose else { return }
        guard let closed = closeIfUnused(for: time) else { return }
        // A thread that has just looked at its state may still hold it, and it cannot be opened twice.
        for _ in 0..<1_000 where closed.engine != nil { usleep(1_000) }
        ending.clear()
        logger.info("the store is closed", metadata: ["uid": "\(user)"])
    }

    private struct Closed { weak var engine: (any ChangeSource)? }

    private func closeIfUnused(for time: Duration) -> Closed? {
        // A client that had come since the keys were looked for, and unlocked it, would have left just now.
        let open = state.withLock { state in
            state.clientCount == 0 && state.idleSince + time <= .now ? state.open.take() : nil
        }
        guard let open else { return nil }
        close(open)
        return Closed(engine: open.engine)
    }

    /// To be called when no request is under way any more, and none will come.
    package func close() {
        turn.lock()
        defer { turn.unlock() }
        if let open = state.withLock({ $0.open.take() }) { close(open) }
    }

    private func close(_ open: OpenStore) {
        open.watch?.stop()
        open.housekeeper.stop()
        open.engine.prepareForExit()
    }
}
