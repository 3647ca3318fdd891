internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import SwiftKeychain

/// A `keychaind` on a filled store, for as long as this is held.
final class DaemonProcess {
    private let place: SocketPlace
    private let process = Process()

    var processID: Int32 { process.processIdentifier }
    var socket: URL { place.socket }

    /// Starts it and does not wait for it.
    init(_ program: String, _ layout: StoreLayout) throws {
        place = try SocketPlace()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "--user", "--socket", place.socket.path, "--store", layout.store.path, "--device-key",
            layout.deviceKey.path, "--log-level", "warning",
        ]
        // Nothing of a service manager that started the benchmark.
        process.environment = ProcessInfo.processInfo.environment.filter {
            !["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "WATCHDOG_USEC", "JOURNAL_STREAM"].contains($0.key)
        }
        do {
            try process.run()
        } catch {
            throw BenchmarkError("\(program) cannot be started: \(error.localizedDescription)")
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// A new connection to it, made with the first request.
    func connection() -> Connection { Self.connection(to: socket) }

    static func connection(to socket: URL) -> Connection {
        var configuration = KeychainConfiguration()
        configuration.host = .socket(socket)
        configuration.accessGroups = SampleItem.caller.groups
        return Connection(configuration)
    }

    /// Asks until it answers.
    func firstAnswer(to request: Request) throws -> Reply {
        let connection = connection()
        while true {
            switch Result(catching: { () throws(KeychainError) in try connection.perform(request) }) {
            case .success(let reply): return reply
            case .failure(let error):
                guard error.code == .notAvailable && process.isRunning else { throw error }
                usleep(200)
            }
        }
    }
}
