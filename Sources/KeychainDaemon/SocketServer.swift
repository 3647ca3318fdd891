internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainBus
package import KeychainModel
package import KeychainSystem
package import KeychainWire
package import Logging

/// Serves a store over a local socket: one thread accepts connections, and another one serves each connection
/// (docs/decisions/019-threads-for-the-daemon.md), so that a slow or hostile client costs its own thread alone.
package final class SocketServer: Sendable {
    private let listener: OpenDescriptor
    let services: Services
    let connections: ConnectionTable
    private let stopEvent: EventDescriptor
    private let hasStoppedAccepting = EndFlag()

    /// - Parameters:
    ///   - listener: A local stream socket that listens.
    ///   - release: The version of the software, for clients to show.
    ///   - end: Asks for the end of the daemon, for this reason. Its receiver calls ``stop(_:)``.
    /// - Throws: `.allocation` if there is no descriptor left, `.notAvailable` if the kernel does not tell which
    ///   process sends.
    package init(
        listener: OpenDescriptor, store: ServedStore, limits: Limits = Limits(), release: String, logger: Logger,
        end: @escaping @Sendable (DaemonGoodbye) -> Void = { _ in }
    ) throws(KeychainError) {
        self.listener = listener
        services = try Services(store, limits, release: release, logger, end: end)
        connections = ConnectionTable(limits)
        stopEvent = try EventDescriptor.make()
        let failure = ckeychain_want_senders(listener.number)
        guard failure == 0 else {
            throw KeychainError(
                .notAvailable,
                message: "the kernel does not tell who sends what (\(String(cString: strerror(failure))))")
        }
        // A connection can be gone between the poll and the accept.
        _ = fcntl(listener.number, F_SETFL, fcntl(listener.number, F_GETFL) | O_NONBLOCK)
    }

    /// Begins to accept connections.
    package func start() throws(KeychainError) {
        try services.signs.start()
        try WorkerThread.start("accept") { [self] in
            accept()
            hasStoppedAccepting.set()
        }
    }

    /// Stops accepting connections, lets requests in progress end, and says goodbye on every connection.
    ///
    /// - Returns: whether all ended in time (``Limits/stopTime``). The others were cut off.
    @discardableResult
    package func stop(_ reason: DaemonGoodbye = .shuttingDown) -> Bool {
        services.end(reason)
        services.logger.info("\(reason.message)")
        stopEvent.set()
        hasStoppedAccepting.wait(for: services.limits.stopTime)
        // A thread that waits for a request finds the end of the input, and can still say goodbye.
        connections.shutDown(Int32(SHUT_RD))
        defer { services.signs.stop() }
        if connections.waitUntilEmpty(for: services.limits.stopTime) { return true }
        connections.shutDown(Int32(SHUT_RDWR))
        return connections.waitUntilEmpty(for: .seconds(1))
    }

    // MARK: Accepting

    private func accept() {
        var lastFailure: Int32 = 0
        while waitForConnection() {
            var number: Int32 = -1
            let failure = ckeychain_accept(listener.number, &number)
            switch failure {
            case 0: admit(OpenDescriptor(number))
            case EAGAIN, EINTR, ECONNABORTED: break
            default:
                // Descriptors or memory have run out, and only others can give some back.
                if failure != lastFailure {
                    services.logger.error("no connection can be accepted: \(String(cString: strerror(failure)))")
                }
                usleep(100_000)
            }
            lastFailure = failure
        }
    }

    /// - Returns: false if the server is to stop, or was idle for too long.
    private func waitForConnection() -> Bool {
        var waiting = [
            pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopEvent.number, events: Int16(POLLIN), revents: 0),
        ]
        let limit = services.limits.idleTime.map { Int32(clamping: Int64($0 / .milliseconds(1))) } ?? -1
        if poll(&waiting, 2, limit) == 0 && mayEnd {
            // New clients wait for the daemon that systemd starts then.
            services.askForEnd(.shuttingDown)
            return false
        }
        return waiting[1].revents == 0
    }

    /// Whether the daemon is not needed: no client is connected, and no key is lost with it.
    private var mayEnd: Bool { connections.count == 0 && !services.store.hasKeysToLose }

    private func admit(_ socket: OpenDescriptor) {
        do throws(ConnectionEnd) {
            // One that waited at systemd's socket has not inherited it.
            guard ckeychain_want_senders(socket.number) == 0 else { throw .gone }
            let peer = try PeerIdentity.process(of: socket.number)
            guard peer.uid == geteuid() else {
                throw .goodbye(.refused, "this keychaind serves user \(geteuid()) alone, and not user \(peer.uid)")
            }
            let activity = Activity()
            if let refusal = connections.add(socket, of: peer.pid, activity) {
                throw .goodbye(refusal.reason, refusal.message)
            }
            try startServing(socket, of: peer.pid, activity)
        } catch {
            guard case .goodbye(let reason, let message) = error else { return }
            // A client without a place may want to lock, and does so by a signal.
            var goodbye = DaemonGoodbye(reason, message)
            if reason == .tooManyConnections, let status = services.store.lockStatus {
                goodbye.isLocked = status.state != .unlocked
                goodbye.hasNoPasscode = !status.hasPasscode
            }
            FrameSender(socket, limit: .zero).sendAtOnce(.goodbye(goodbye))
            services.log("a connection was refused: \(message)", socket)
        }
    }

    private func startServing(
        _ socket: OpenDescriptor, of pid: Int32, _ activity: Activity
    ) throws(ConnectionEnd) {
        let (services, connections) = (services, connections)
        do throws(KeychainError) {
            try WorkerThread.start("client", stackBytes: services.limits.stackBytes) {
                ClientConnection(socket, services, activity) { connections.reasonForEnd(of: socket) }.serve()
                connections.remove(socket, of: pid)
            }
        } catch {
            connections.remove(socket, of: pid)
            throw .goodbye(.tooManyConnections, error.message)
        }
    }
}

extension DaemonGoodbye {
    package static let shuttingDown = DaemonGoodbye(.shuttingDown, "keychaind ends")

    static let storeGivenUp = DaemonGoodbye(
        .storeGivenUp, "the keychain does not belong to keychaind any more: programs open it themselves")
}
