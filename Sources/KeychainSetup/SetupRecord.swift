internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// The record of the changes for a tool, from which they are taken back: a file in `$XDG_STATE_HOME/keychain/setup`.
struct SetupRecord: Codable {
    private static let formatVersion = 1

    private var version = formatVersion
    var changes: [SetupChange] = []

    init(changes: [SetupChange] = []) { self.changes = changes }

    private static func directory(_ environment: Environment) throws -> URL {
        try environment.directory("XDG_STATE_HOME", inHome: ".local/state").appendingPathComponent("keychain/setup")
    }

    private static func url(_ tool: String, _ environment: Environment) throws -> URL {
        try directory(environment).appendingPathComponent("\(tool).json")
    }

    /// Runs `body` while no other command sets something up or takes it back.
    static func withLock<R>(_ environment: Environment, _ body: () throws -> R) throws -> R {
        let directory = try directory(environment)
        try PrivateDirectory.create(directory, SystemFiles())
        return try LockFile.withLock(directory.appendingPathComponent("lock"), SystemFiles(), body)
    }

    /// nil: nothing was set up.
    ///
    /// - Throws: ``SetupFailure`` if the record cannot be read.
    static func of(_ tool: String, _ environment: Environment) throws -> SetupRecord? {
        let url = try url(tool, environment)
        guard let content = try SetupFile(url.path).content else { return nil }
        guard let record = try? JSONDecoder().decode(SetupRecord.self, from: content),
            record.version == formatVersion
        else {
            throw SetupFailure(
                message: "\(url.path) is damaged, or of another version: nothing was changed. Look at what the tool's "
                    + "configuration says of the keychain, and remove the record")
        }
        return record
    }

    /// The record of a tool that a command is not about; nil too if it is damaged, which the tool's own commands tell.
    static func readable(_ tool: String, _ environment: Environment) throws -> SetupRecord? {
        do { return try of(tool, environment) } catch is SetupFailure { return nil }
    }

    /// Call it with the lock.
    func write(_ tool: String, _ environment: Environment) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).withUnsafeBytes {
            try AtomicFile(locked: try Self.url(tool, environment), SystemFiles()).replace(with: $0)
        }
    }

    static func remove(_ tool: String, _ environment: Environment) throws {
        let path = try url(tool, environment).path
        guard unlink(path) == 0 || errno == ENOENT else { throw KeychainError(file: path, "remove", errno) }
    }
}
