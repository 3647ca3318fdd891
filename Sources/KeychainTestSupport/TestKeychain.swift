package import Foundation
internal import Keychain
package import KeychainEngine
internal import KeychainModel

/// Where the engine of a test runs. Every conformance case runs on each of them.
package enum KeychainHost: String, CaseIterable, Sendable {
    case embedded
}

/// A keychain of its own for the length of a test.
package struct TestKeychain: Sendable {
    /// Holds the directories `store` and `device`.
    package let directory: URL
    package let clock: TestClock
    package let engine: Engine

    package var configuration: EngineConfiguration { .test(in: directory, clock: clock) }

    /// Runs `body` as a caller with these groups.
    package func asCaller<R>(groups: [String], _ body: () throws -> R) rethrows -> R {
        try Connection.$override.withValue(Connection(engine: engine, caller: Caller(groups: groups)), operation: body)
    }

    package func asCaller<R>(groups: [String], _ body: () async throws -> R) async rethrows -> R {
        let connection = Connection(engine: engine, caller: Caller(groups: groups))
        return try await Connection.$override.withValue(connection, operation: body)
    }
}

extension EngineConfiguration {
    /// A store within a directory, which is not forced to the disk: tests of durability ask for that themselves.
    package static func test(in directory: URL, clock: any Clock = TestClock()) -> EngineConfiguration {
        EngineConfiguration(
            storeDirectory: directory.appendingPathComponent("store"),
            deviceKeyDirectory: directory.appendingPathComponent("device"), clock: clock)
    }
}

/// Runs `body` with an empty keychain, whose files are removed afterwards, also after a failure.
package func withKeychain<R>(
    _ host: KeychainHost = .embedded, groups: [String] = ["G1", "G2"], _ body: (TestKeychain) throws -> R
) throws -> R {
    try withTemporaryDirectory { directory in
        let keychain = try makeKeychain(host, in: directory)
        return try keychain.asCaller(groups: groups) { try body(keychain) }
    }
}

package func withKeychain<R>(
    _ host: KeychainHost = .embedded, groups: [String] = ["G1", "G2"],
    _ body: (TestKeychain) async throws -> R
) async throws -> R {
    let directory = try makeTemporaryDirectory()
    let result: Result<R, any Error>
    do {
        let keychain = try makeKeychain(host, in: directory)
        result = .success(try await keychain.asCaller(groups: groups) { try await body(keychain) })
    } catch {
        result = .failure(error)
    }
    try FileManager.default.removeItem(at: directory)
    return try result.get()
}

/// Runs `body` with a directory that is removed afterwards.
package func withTemporaryDirectory<R>(_ body: (URL) throws -> R) throws -> R {
    let directory = try makeTemporaryDirectory()
    let result = Result { try body(directory) }
    try FileManager.default.removeItem(at: directory)
    return try result.get()
}

/// An empty directory, which the caller removes.
package func makeTemporaryDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("keychain-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return directory
}

private func makeKeychain(_ host: KeychainHost, in directory: URL) throws -> TestKeychain {
    let clock = TestClock()
    switch host {
    case .embedded:
        let engine = try Engine(.test(in: directory, clock: clock))
        return TestKeychain(directory: directory, clock: clock, engine: engine)
    }
}
