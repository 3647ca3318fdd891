internal import Foundation
internal import KeychainClient
internal import SwiftKeychain

/// A store that was filled and the programs that are measured on it.
struct DaemonSetup {
    let daemon: String
    let floor: String
    let client: String
    let layout: StoreLayout

    /// Calls `body` while the store belongs to a daemon. Afterwards what was added to it is gone.
    func withStore<R>(_ body: () throws -> R) throws -> R {
        try layout.giveToDaemon()
        let result = Result { try body() }
        try layout.takeFromDaemon()
        try Adds(engine: try makeEngine(directory: layout.engine, durable: false)).forget()
        return try result.get()
    }

    func startDaemon() throws -> DaemonProcess { try DaemonProcess(daemon, layout) }

    func startFloor(_ sizes: FrameSizes) throws -> FloorServer {
        try FloorServer(floor, client: client, layout, sizes)
    }
}

/// A name for a socket in a directory of its own, which goes with it.
final class SocketPlace {
    /// Short: names of sockets have a hundred characters at most.
    private let directory = URL(fileURLWithPath: "/tmp/keychain-benchmark-\(getpid())-\(UInt32.random(in: 0...(.max)))")

    var socket: URL { directory.appendingPathComponent("socket") }

    init() throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Waits until somebody listens there.
    func waitForListener(_ process: Process) throws {
        for _ in 0..<1000 {
            if FileManager.default.fileExists(atPath: socket.path) { return }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        throw BenchmarkError("\(process.executableURL?.path ?? "the server") does not listen")
    }
}
