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
    private let store: ServedStore

    /// - Parameter directory: Where its socket is.
    package init(_ engine: any ChangeSource, in directory: URL) throws {
        let path = directory.appendingPathComponent("socket").path
        var listener: Int32 = -1
        let failure = ckeychain_listen(path, &listener)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        var logger = Logger(label: "keychain.test.daemon")
        // Only what no test means to happen.
        logger.logLevel = .error
        store = ServedStore(logger: logger) { engine }
        server = try SocketServer(
            listener: OpenDescriptor(listener), store: store, release: "test", logger: logger)
        try server.start()
        carrier = SocketCarrier(socketPath: path)
    }

    package func stop() {
        server.stop()
        store.close()
    }
}
