internal import Glibc
internal import KeychainCrypto
package import KeychainLogin
package import KeychainModel
internal import KeychainSystem
internal import KeychainWire
package import Logging

/// The life of `keychaind`, from the start of the process to its end. ``UserDaemon`` and ``SystemDaemon`` say what it
/// serves.
package final class Daemon {
    /// The things that a daemon of any kind has from its process.
    package struct Surroundings {
        package var socket: ListeningSocket
        package var manager: ServiceManager
        /// Signals that ask for the end, or for a lock.
        package var signals: DaemonSignals
        package var limits: Limits
        /// The version of the software, for clients to show.
        package var release: String
        /// Whether keys are in memory that is locked but within the kernel's reach: with any other memory the machine does
        /// not hibernate.
        package var allowsHibernation: Bool
        package var logger: Logger

        package init(
            socket: ListeningSocket, manager: ServiceManager, signals: DaemonSignals, limits: Limits, release: String,
            allowsHibernation: Bool, logger: Logger
        ) {
            self.socket = socket
            self.manager = manager
            self.signals = signals
            self.limits = limits
            self.release = release
            self.allowsHibernation = allowsHibernation
            self.logger = logger
        }
    }

    private let surroundings: Surroundings
    private let admission: any Admission
    private let server: SocketServer
    private let watchdog: Watchdog
    private let request: EndRequest

    /// The socket is removed at the end.
    init(_ surroundings: Surroundings, _ admission: any Admission) throws(KeychainError) {
        if !surroundings.allowsHibernation { KeyMemoryPolicy.useSecretMemory() }
        let request = try EndRequest()
        server = try SocketServer(
            listener: surroundings.socket.descriptor, admission, limits: surroundings.limits,
            release: surroundings.release, logger: surroundings.logger, end: { request.set($0) })
        watchdog = Watchdog(surroundings.manager, admission)
        self.surroundings = surroundings
        self.admission = admission
        self.request = request
    }

    /// Serves until the process is asked to end, or the only store goes back to the programs themselves.
    ///
    /// - Throws: a `KeychainError` if there is nothing to serve, unless a service manager started the daemon: then it
    ///   stays, so that clients and the manager are told why, and tries again with each client.
    package func run() throws(KeychainError) {
        try start()
        surroundings.manager.tellReady()
        let goodbye = waitForEnd()
        surroundings.manager.tellStopping()
        stop(goodbye)
    }

    private func waitForEnd() -> DaemonGoodbye {
        var waiting = [surroundings.signals.descriptor, request.event.descriptor].map {
            pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
        }
        while true {
            if poll(&waiting, 2, -1) < 0 { continue }
            if let goodbye = request.goodbye { return goodbye }
            switch surroundings.signals.next() {
            case .end: return .shuttingDown
            case .lock: lock()
            case nil: break
            }
        }
    }

    /// A lock by a signal.
    private func lock() {
        let open = admission.stores.filter { $0.engineIfOpen != nil }
        if open.isEmpty {
            surroundings.logger.notice(
                "a signal asked for a lock, and no store is open: there is no key to take away")
        }
        for store in open { store.lock() }
    }

    private func start() throws(KeychainError) {
        let goesOn = surroundings.manager.isThere || surroundings.socket.isActivated
        do throws(KeychainError) {
            // A failure that ends the daemon is its last word, and said once.
            try admission.prepare(saysFailure: goesOn)
        } catch {
            guard goesOn else {
                surroundings.socket.remove()
                throw error
            }
        }
        try server.start()
        try watchdog.start()
    }

    private func stop(_ goodbye: DaemonGoodbye) {
        surroundings.socket.remove()
        server.stop(goodbye)
        watchdog.stop()
        admission.stop()
        for store in admission.stores { store.close() }
    }
}
