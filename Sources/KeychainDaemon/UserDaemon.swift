internal import Glibc
internal import KeychainBiometry
internal import KeychainBus
internal import KeychainCrypto
internal import KeychainEngine
package import KeychainModel
internal import KeychainSystem
internal import KeychainWire
package import Logging

/// `keychaind --user`: serves the store of one user from the start of the process to its end.
package struct UserDaemon {
    private let socket: ListeningSocket
    private let manager: ServiceManager
    private let store: ServedStore
    private let server: SocketServer
    private let watchdog: Watchdog
    private let signals: DaemonSignals
    private let logger: Logger
    private let request: EndRequest

    /// - Parameters:
    ///   - socket: The socket, which is removed at the end.
    ///   - signals: Signals that ask for the end, or for a lock.
    ///   - release: The version of the software, for clients to show.
    ///   - allowsHibernation: Whether keys are in memory that is locked but within the kernel's reach: with any other
    ///     memory the machine does not hibernate.
    package init(
        at location: StoreLocation, socket: ListeningSocket, manager: ServiceManager, signals: DaemonSignals,
        limits: Limits,
        release: String, allowsHibernation: Bool, logger: Logger
    ) throws(KeychainError) {
        if !allowsHibernation { KeyMemoryPolicy.useSecretMemory() }
        let request = try EndRequest()
        store = ServedStore(manager: manager, watchesSessions: true, logger: logger) { () throws(KeychainError) in
            try Engine(EngineConfiguration(servedAt: location))
        }
        server = try SocketServer(
            listener: socket.descriptor, store: store, limits: limits, release: release, logger: logger,
            end: { request.set($0) })
        watchdog = Watchdog(manager, store)
        self.socket = socket
        self.manager = manager
        self.signals = signals
        self.logger = logger
        self.request = request
    }

    /// Serves until the process is asked to end, or the store goes back to the programs themselves.
    ///
    /// - Throws: a `KeychainError` if there is no store, unless a service manager started the daemon: then it stays, so
    ///   that clients and the manager are told why, and tries again with each client.
    package func run() throws(KeychainError) {
        try start()
        manager.tellReady()
        let goodbye = waitForEnd()
        manager.tellStopping()
        stop(goodbye)
    }

    private func waitForEnd() -> DaemonGoodbye {
        var waiting = [signals.descriptor, request.event.descriptor].map {
            pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
        }
        while true {
            if poll(&waiting, 2, -1) < 0 { continue }
            if let goodbye = request.goodbye { return goodbye }
            switch signals.next() {
            case .end: return .shuttingDown
            case .lock: lock()
            case nil: break
            }
        }
    }

    /// A lock by a signal, from a client that has no place among the connections.
    private func lock() {
        guard let engine = store.engineIfOpen else {
            logger.notice("a signal asked for a lock, and no store is open: there is no key to take away")
            return
        }
        do throws(KeychainError) {
            _ = try engine.handle(.lock(.now), from: Caller(groups: [], authority: .owner))
            logger.notice("a signal locked the keychain")
        } catch {
            logger.error("a signal did not lock the keychain", metadata: ["reason": "\(error.message)"])
        }
    }

    private func start() throws(KeychainError) {
        let goesOn = manager.isThere || socket.isActivated
        do throws(KeychainError) {
            // A failure that ends the daemon is its last word, and said once.
            try store.engine(saysFailure: goesOn)
        } catch {
            guard goesOn else {
                socket.remove()
                throw error
            }
        }
        try server.start()
        try watchdog.start()
    }

    private func stop(_ goodbye: DaemonGoodbye) {
        socket.remove()
        server.stop(goodbye)
        watchdog.stop()
        store.close()
    }
}

extension EngineConfiguration {
    /// As a daemon has it: unlocked keys are in its own memory.
    fileprivate init(servedAt location: StoreLocation) {
        self.init(storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        deviceKeyCredential = location.deviceKeyCredential
        biometry = FingerprintReader()
        host = .user
        mostBytesInAnswer = Limits.answerBytes
    }
}
