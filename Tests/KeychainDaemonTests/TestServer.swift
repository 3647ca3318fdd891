import CKeychainLinux
import Foundation
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Logging

@testable import KeychainDaemon

/// A server at work in this process, on a socket in a directory of its own.
final class TestServer: Sendable {
    let path: String
    let server: SocketServer
    let store: ServedStore
    /// What it says in its log.
    let log = Observed<[String]>([])
    /// Why it asked for its end.
    let ends = Observed<[DaemonGoodbye]>([])

    /// - Parameters:
    ///   - opensFirst: Whether the store is opened before the first client, as at a daemon's start.
    ///   - admission: nil: that of a user's daemon.
    init(
        in directory: URL, limits: Limits = Limits(), opensFirst: Bool = false,
        admission: ((ServedStore) -> any Admission)? = nil, consent: any OwnerConsent = PolkitConsent(),
        openEngine: @escaping @Sendable () throws(KeychainError) -> any ChangeSource
    ) throws {
        path = directory.appendingPathComponent("socket").path
        var number: Int32 = -1
        guard ckeychain_listen(path, &number) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let log = log
        let logger = Logger(label: "test") { _ in LineHandler(lines: log) }
        store = ServedStore(logger: logger, openEngine: openEngine)
        server = try SocketServer(
            listener: OpenDescriptor(number), admission?(store) ?? UserAdmission(store: store), consent, limits: limits,
            release: "test", logger: logger,
            end: { [ends] goodbye in ends.update { $0.append(goodbye) } })
        if opensFirst { try store.engine() }
        try server.start()
    }

    func connect(groups: [String] = ["G"], authority: Caller.Authority = .groups) throws -> TestClient {
        try TestClient(path, groups: groups, authority: authority)
    }

    /// Waits for a line with this in the log.
    func hasLogged(_ text: String) -> Bool { log.wait { $0.contains { $0.contains(text) } } }

    /// Whether a well-behaved client is served.
    func serves() throws -> Bool {
        guard case .lockStatus = try connect().ask(.lockStatus) else { return false }
        return true
    }
}

/// Runs `body` with a server, which is stopped afterwards.
func withServer<R>(
    _ engine: any ChangeSource, limits: Limits = Limits(), opensFirst: Bool = false,
    _ body: (TestServer) throws -> R
) throws -> R {
    try withServer(limits: limits, opensFirst: opensFirst, openEngine: { engine }, body)
}

func withServer<R>(
    limits: Limits = Limits(), opensFirst: Bool = false,
    openEngine: @escaping @Sendable () throws(KeychainError) -> any ChangeSource, _ body: (TestServer) throws -> R
) throws -> R {
    try withTemporaryDirectory { directory in
        let server = try TestServer(in: directory, limits: limits, opensFirst: opensFirst, openEngine: openEngine)
        let result = Result { try body(server) }
        server.server.stop()
        server.store.close()
        return try result.get()
    }
}

struct LineHandler: LogHandler {
    let lines: Observed<[String]>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.update { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") }
    }
}
