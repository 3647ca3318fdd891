internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The changes for a tool, from which they are taken back: a file in `$XDG_STATE_HOME/keychain/setup`, which is there as
/// long as it has a change.
struct SetupRecord {
    /// The record of the link `keyring`, which several tools use.
    static let ofLink = "keyring"

    private struct Content: Codable {
        static let formatVersion = 2

        var version = formatVersion
        var changes: [SetupChange]
    }

    private let url: URL
    private(set) var changes: [SetupChange] = []

    /// - Throws: ``SetupFailure`` if the record cannot be read.
    init(_ name: String, _ environment: Environment) throws {
        url = try Self.directory(environment).appendingPathComponent("\(name).json")
        guard let bytes = try SetupFile(url.path).content else { return }
        guard let content = try? JSONDecoder().decode(Content.self, from: bytes),
            content.version == Content.formatVersion
        else {
            throw SetupFailure(
                message: "\(url.path) is damaged, or of another version: look at what the tool's configuration says "
                    + "of the keychain, and remove the record")
        }
        changes = content.changes
    }

    /// The record, even of a tool that a command is not about; nil if it is damaged, which the tool's own commands tell.
    static func readable(_ name: String, _ environment: Environment) throws -> SetupRecord? {
        do { return try SetupRecord(name, environment) } catch is SetupFailure { return nil }
    }

    private static func directory(_ environment: Environment) throws -> URL {
        try environment.directory("XDG_STATE_HOME", inHome: ".local/state").appendingPathComponent("keychain/setup")
    }

    /// Runs `body` while no other command sets something up or takes it back.
    static func withLock<R>(_ environment: Environment, _ body: () throws -> R) throws -> R {
        let directory = try directory(environment)
        try PrivateDirectory.create(directory, SystemFiles(), inOthersHomes: false)
        return try LockFile.withLock(directory.appendingPathComponent("lock"), SystemFiles(), body)
    }

    /// Call it with the lock.
    mutating func replace(with changes: [SetupChange]) throws {
        if changes.isEmpty {
            guard unlink(url.path) == 0 || errno == ENOENT else { throw KeychainError(file: url.path, "remove", errno) }
        } else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(Content(changes: changes)).withUnsafeBytes {
                try AtomicFile(locked: url, SystemFiles()).replace(with: $0)
            }
        }
        self.changes = changes
    }
}
