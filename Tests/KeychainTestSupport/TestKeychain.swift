package import Foundation
internal import KeychainClient
package import KeychainEngine
package import KeychainModel
internal import SwiftKeychain

/// Where the engine of a test runs. Every conformance case runs on each of ``everyHost``.
package enum KeychainHost: String, CaseIterable, Sendable {
    case embedded
    /// As in a container whose kernel refuses keyrings: each process holds the keys it unlocked.
    case embeddedWithoutKeyring
    /// Behind a socket, with the daemon's own server in this process.
    case daemon
    /// Behind the server of the system's daemon, which takes a test at its word for its groups alone.
    case system

    /// Those on which the owner of the store is taken at its word.
    package static let allCases: [KeychainHost] = [.embedded, .embeddedWithoutKeyring, .daemon]
    package static let everyHost = allCases + [.system]

    /// One for each way in which a request is carried.
    package static let carriers: [KeychainHost] = [.embedded, .daemon]
    package static let everyCarrier = carriers + [.system]
}

/// A keychain of its own for the length of a test.
package struct TestKeychain: Sendable {
    /// Holds the directories `store` and `device`.
    package let directory: URL
    package let clock: TestClock
    package let engine: Engine
    /// The engine itself, or the way to it through a daemon's socket.
    package let handler: any RequestHandler
    /// On the engine's side. There is none until a test enrolls a finger.
    package let reader: FakeReader
    /// On the caller's side.
    package let prompter = ScriptedPrompter()
    private let daemon: InProcessDaemon?

    package init(directory: URL, clock: TestClock, engine: Engine) {
        self.init(directory: directory, clock: clock, engine: engine, reader: FakeReader(), daemon: nil)
    }

    fileprivate init(
        directory: URL, clock: TestClock, engine: Engine, reader: FakeReader, daemon: InProcessDaemon?
    ) {
        self.reader = reader
        self.directory = directory
        self.clock = clock
        self.engine = engine
        self.daemon = daemon
        handler = daemon?.carrier ?? engine
    }

    /// To be called when the test is over.
    fileprivate func end() {
        daemon?.stop()
        // Otherwise keys of a store that is no more would stay in the user's keyring.
        engine.withdrawKeys()
    }

    package var configuration: EngineConfiguration { .test(in: directory, clock: clock) }

    /// Runs `body` as a caller with these groups.
    package func asCaller<R>(groups: [String], _ body: () throws -> R) rethrows -> R {
        try Connection.$override.withValue(connection(groups), operation: body)
    }

    package func asCaller<R>(groups: [String], _ body: () async throws -> R) async rethrows -> R {
        try await Connection.$override.withValue(connection(groups), operation: body)
    }

    private func connection(_ groups: [String]) -> Connection {
        Connection(engine: handler, caller: Caller(groups: groups), prompter: prompter)
    }
}

extension EngineConfiguration {
    /// A store within a directory, which is not forced to the disk: tests of durability ask for that themselves.
    ///
    /// Passcodes take microseconds to check.
    package static func test(
        in directory: URL, clock: any Clock = TestClock(), usesKeyring: Bool = true
    ) -> EngineConfiguration {
        var configuration = EngineConfiguration(
            storeDirectory: directory.appendingPathComponent("store"),
            deviceKeyDirectory: directory.appendingPathComponent("device"), clock: clock)
        configuration.passcodeCost = 4
        configuration.usesKeyring = usesKeyring
        configuration.rowsPerRekeyStep = 500
        // A machine that is busy with something else is no reason to give up.
        configuration.busyTimeout = 60
        return configuration
    }
}

// MARK: - The lock

extension TestKeychain {
    /// Sets the first passcode and brings every row under the new keys, as the owner that the system's daemon knows.
    package func setPasscode(_ passcode: String) throws { try engine.setPasscode(passcode) }

    package func lock(_ request: LockRequest = .withGrace) throws {
        _ = try handler.handle(.lock(request), from: .owner)
    }

    package func unlock(_ passcode: String) throws { _ = try handler.handle(.unlock(.of(passcode)), from: .owner) }

    package var lockStatus: LockStatus { get throws { try handler.lockStatus() } }

    /// What a restart of the system does: the kernel's keyring is empty, the boot clock begins anew.
    package func restart() {
        engine.withdrawKeys()
        clock.restart()
    }
}

extension RequestHandler {
    package func setPasscode(_ passcode: String) throws {
        try finishRekey(after: try handle(.passcode(.set(.of(passcode))), from: .owner))
    }

    package func changePasscode(from old: String, to new: String, rekey: Bool = false) throws {
        let change = PasscodeRequest.change(old: .of(old), new: .of(new), rekey: rekey)
        try finishRekey(after: try handle(.passcode(change), from: .owner))
    }

    /// Does the steps that a renewal of keys is made of, as a client does.
    package func finishRekey(after reply: Reply) throws {
        var reply = reply
        while case .rekeyed(let progress) = reply, !progress.isFinished {
            reply = try handle(.rekeyStep, from: .owner)
        }
    }

    package func lockStatus() throws -> LockStatus {
        guard case .lockStatus(let status) = try handle(.lockStatus, from: .owner) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        return status
    }
}

extension Caller {
    package static let owner = Caller(groups: ["keychain"], authority: .owner)
}

extension SecretBytes {
    package static func of(_ text: String) -> SecretBytes { SecretBytes(copying: Data(text.utf8)) }
}

/// Runs `body` with an empty keychain, whose files are removed afterwards, also after a failure.
///
/// - Parameter biometry: In the place of ``TestKeychain/reader``.
package func withKeychain<R>(
    _ host: KeychainHost = .embedded, groups: [String] = ["G1", "G2"], biometry: (any BiometryReader)? = nil,
    _ body: (TestKeychain) throws -> R
) throws -> R {
    try withTemporaryDirectory { directory in
        let keychain = try makeKeychain(host, biometry, in: directory)
        defer { keychain.end() }
        return try keychain.asCaller(groups: groups) { try body(keychain) }
    }
}

package func withKeychain<R>(
    _ host: KeychainHost = .embedded, groups: [String] = ["G1", "G2"], biometry: (any BiometryReader)? = nil,
    _ body: (TestKeychain) async throws -> R
) async throws -> R {
    let directory = try makeTemporaryDirectory()
    let result: Result<R, any Error>
    do {
        let keychain = try makeKeychain(host, biometry, in: directory)
        defer { keychain.end() }
        result = .success(try await keychain.asCaller(groups: groups) { try await body(keychain) })
    } catch {
        result = .failure(error)
    }
    try removeDirectory(directory)
    return try result.get()
}

/// Runs `body` with a directory that is removed afterwards.
package func withTemporaryDirectory<R>(_ body: (URL) throws -> R) throws -> R {
    let directory = try makeTemporaryDirectory()
    let result = Result { try body(directory) }
    try removeDirectory(directory)
    return try result.get()
}

/// Removes a directory from which a connection that is just being closed may remove files too: whatever fails for that is
/// tried again.
private func removeDirectory(_ directory: URL) throws {
    for _ in 0..<500 {
        do { return try FileManager.default.removeItem(at: directory) } catch { usleep(20_000) }
        if access(directory.path, F_OK) != 0 { return }
    }
    try FileManager.default.removeItem(at: directory)
}

/// An empty directory, which the caller removes.
package func makeTemporaryDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("keychain-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return directory
}

private func makeKeychain(
    _ host: KeychainHost, _ biometry: (any BiometryReader)?, in directory: URL
) throws -> TestKeychain {
    let clock = TestClock()
    var configuration = EngineConfiguration.test(in: directory, clock: clock, usesKeyring: host == .embedded)
    if host == .daemon { configuration.host = .user }
    if host == .system { configuration.host = .system }
    let reader = FakeReader()
    configuration.biometry = biometry ?? reader
    let engine = try Engine(configuration)
    let daemon: InProcessDaemon? =
        switch host {
        case .daemon: try InProcessDaemon(engine, in: directory)
        case .system: try InProcessDaemon(ofSystem: engine, in: directory)
        case .embedded, .embeddedWithoutKeyring: nil
        }
    return TestKeychain(directory: directory, clock: clock, engine: engine, reader: reader, daemon: daemon)
}
