internal import CKeychainLinux
package import Foundation
internal import KeychainBus
package import KeychainClient
internal import KeychainDaemon
package import KeychainModel
import KeychainSystem
internal import Logging
internal import SwiftKeychain

/// A daemon's server in this process, with a way to it over its socket.
package final class InProcessDaemon: Sendable {
    package let carrier: SocketCarrier
    private let server: SocketServer
    private let closeStores: @Sendable () -> Void

    /// - Parameter directory: Where its socket is.
    package convenience init(_ engine: any ChangeSource, in directory: URL) throws {
        try self.init(in: directory) { listener, logger in
            let store = ServedStore(logger: logger) { engine }
            let server = try SocketServer(listener: listener, store: store, release: "test", logger: logger)
            return (server, { store.close() })
        }
    }

    /// A server that differs from that of the system's daemon in one thing: it takes the client's word for its groups, so
    /// that a test can be several programs.
    package convenience init(ofSystem engine: any ChangeSource, in directory: URL) throws {
        try self.init(in: directory, openingForSystem: { engine })
    }

    /// As ``init(ofSystem:in:)``, with a store that is opened anew when it was closed.
    package convenience init(
        in directory: URL, openingForSystem open: @escaping @Sendable () throws(KeychainError) -> any ChangeSource
    ) throws {
        try self.init(in: directory) { listener, logger in
            let users = UserStores(in: directory, watchesSessions: false, logger) {
                (_, _, _) throws(KeychainError) in try open()
            }
            let server = try SocketServer(
                listener: listener, NamedGroups(users: users), limits: .ofSystem, release: "test", logger: logger)
            try users.prepare()
            return (
                server,
                {
                    users.stop()
                    for store in users.all { store.close() }
                }
            )
        }
    }

    private init(
        in directory: URL, _ serve: (OpenDescriptor, Logger) throws -> (SocketServer, @Sendable () -> Void)
    ) throws {
        let path = directory.appendingPathComponent("socket").path
        var listener: Int32 = -1
        let failure = ckeychain_listen(path, &listener)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        var logger = Logger(label: "keychain.test.daemon")
        // Only what no test means to happen.
        logger.logLevel = .error
        (server, closeStores) = try serve(OpenDescriptor(listener), logger)
        try server.start()
        carrier = SocketCarrier(socketPath: path)
    }

    package func stop() {
        server.stop()
        closeStores()
    }
}

private struct NamedGroups: Admission {
    let users: UserStores

    var isShared: Bool { true }
    var stores: [ServedStore] { users.all }

    func prepare(saysFailure: Bool) throws(KeychainError) { try users.prepare() }

    func store(of user: uid_t) throws(ConnectionEnd) -> ServedStore { try users.store(of: user) }

    func judge(_ peer: PeerIdentity) throws(ConnectionEnd) -> Judgement {
        Judgement(nil, try ProcessStanding(of: peer))
    }

    func stop() { users.stop() }
}
