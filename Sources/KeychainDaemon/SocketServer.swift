internal import CKeychainLinux
internal import Glibc
package import KeychainModel
package import KeychainSystem
package import KeychainWire
package import Logging

/// Serves stores over a local socket: one thread accepts connections, and another one serves each connection
/// (docs/decisions/019-threads-for-the-daemon.md), so that a slow or hostile client costs its own thread alone.
package final class SocketServer: Sendable {
    private let listener: OpenDescriptor
    let services: Services
    var connections: ConnectionTable { services.connections }
    private let stopEvent: EventDescriptor
    private let hasStoppedAccepting = EndFlag()

    /// - Parameters:
    ///   - listener: A local stream socket that listens.
    ///   - release: The version of the software, for clients to show.
    ///   - end: Asks for the end of the daemon, for this reason. Its receiver calls ``stop(_:)``.
    /// - Throws: `.allocation` if there is no descriptor left, `.notAvailable` if the kernel does not tell which
    ///   process sends.
    package convenience init(
        listener: OpenDescriptor, _ admission: any Admission, limits: Limits = Limits(), release: String,
        logger: Logger, end: @escaping @Sendable (DaemonGoodbye) -> Void = { _ in }
    ) throws(KeychainError) {
        try self.init(
            listener: listener, admission, PolkitConsent(), limits: limits, release: release, logger: logger, end: end)
    }

    init(
        listener: OpenDescriptor, _ admission: any Admission, _ consent: any OwnerConsent, limits: Limits = Limits(),
        release: String,
        logger: Logger, end: @escaping @Sendable (DaemonGoodbye) -> Void = { _ in }
    ) throws(KeychainError) {
        self.listener = listener
        services = try Services(admission, consent, limits, release: release, logger, end: end)
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

    /// A server of one store for this process's user.
    package convenience init(
        listener: OpenDescriptor, store: ServedStore, limits: Limits = Limits(), release: String, logger: Logger,
        end: @escaping @Sendable (DaemonGoodbye) -> Void = { _ in }
    ) throws(KeychainError) {
        try self.init(
            listener: listener, UserAdmission(store: store), limits: limits, release: release, logger: logger, end: end)
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
        services.ending.set(reason)
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
    private var mayEnd: Bool {
        connections.count == 0 && !services.admission.stores.contains { $0.hasKeysToLose }
    }

    private func admit(_ socket: OpenDescriptor) {
        do throws(ConnectionEnd) {
            // One that waited at systemd's socket has not inherited it.
            guard ckeychain_want_senders(socket.number) == 0 else { throw .gone }
            let peer = try PeerIdentity.process(of: socket.number)
            let process = ClientProcess(user: peer.uid, pid: peer.pid)
            if ckeychain_asks_for_lock(socket.number) != 0 { return answerLock(socket, process.user) }
            let activity = Activity()
            if let refusal = connections.add(socket, of: process, activity) {
                throw .goodbye(refusal.reason, refusal.message)
            }
            try startServing(socket, of: process, activity)
        } catch {
            guard case .goodbye(let reason, let message) = error else { return }
            FrameSender(socket, limit: .zero).sendAtOnce(.goodbye(goodbye(reason, message, socket)))
            services.log("a connection was refused: \(message)", socket)
        }
    }

    /// A client without a place may want to lock, and looks whether it is.
    private func goodbye(
        _ reason: DaemonGoodbye.Reason, _ message: String, _ socket: OpenDescriptor
    ) -> DaemonGoodbye {
        var goodbye = DaemonGoodbye(reason, message)
        guard reason == .tooManyConnections, let user = try? PeerIdentity.process(of: socket.number).uid else {
            return goodbye
        }
        // A store that is not open has no keys.
        let status = services.admission.stores.first { $0.user == user }?.lockStatus
        goodbye.isLocked = status.map { $0.state != .unlocked } ?? services.admission.isShared
        goodbye.hasNoPasscode = status?.hasPasscode == false
        return goodbye
    }

    /// A connection that only asks for a lock takes no place, and nothing is read from it: the kernel has said whose it
    /// is. It is told how the lock is, and the client looks again until it is as it asked.
    private func answerLock(_ socket: OpenDescriptor, _ user: uid_t) {
        if let store = services.admission.stores.first(where: { $0.user == user }) { store.lockSoon() }
        FrameSender(socket, limit: .zero).sendAtOnce(
            .goodbye(goodbye(.tooManyConnections, "keychaind locks the keychain of user \(user)", socket)))
    }

    private func startServing(
        _ socket: OpenDescriptor, of process: ClientProcess, _ activity: Activity
    ) throws(ConnectionEnd) {
        let (services, connections) = (services, connections)
        do throws(KeychainError) {
            try WorkerThread.start("client", stackBytes: services.limits.stackBytes) {
                let client = ClientConnection(socket, services, activity) { connections.reasonForEnd(of: socket) }
                client.serve()
                connections.remove(socket, of: process)
                client.store?.leave()
            }
        } catch {
            connections.remove(socket, of: process)
            throw .goodbye(.tooManyConnections, error.message)
        }
    }
}

extension DaemonGoodbye {
    package static let shuttingDown = DaemonGoodbye(.shuttingDown, "keychaind ends")

    static let storeGivenUp = DaemonGoodbye(
        .storeGivenUp, "the keychain does not belong to keychaind any more: programs open it themselves")
}
