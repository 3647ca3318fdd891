internal import Foundation
internal import KeychainFiles
internal import KeychainModel
internal import KeychainSystem

/// What was changed for a tool, so that it can be taken back: a file in `$XDG_STATE_HOME/keychain/setup`.
struct SetupRecord: Codable {
    private static let formatVersion = 1

    private var version = formatVersion
    var changes: [SetupChange] = []
    /// The outermost first.
    var madeDirectories: [String] = []

    private static func url(_ tool: String, _ environment: Environment) throws -> URL {
        try environment.directory("XDG_STATE_HOME", inHome: ".local/state")
            .appendingPathComponent("keychain/setup/\(tool).json")
    }

    /// nil: nothing was set up.
    static func of(_ tool: String, _ environment: Environment) throws -> SetupRecord? {
        let url = try url(tool, environment)
        guard let content = try SetupFile(url.path).content else { return nil }
        guard let record = try? JSONDecoder().decode(SetupRecord.self, from: content),
            record.version == formatVersion
        else { throw ToolFailure(message: "\(url.path) is damaged, or of a later version: nothing was changed") }
        return record
    }

    func write(_ tool: String, _ environment: Environment) throws {
        let url = try Self.url(tool, environment)
        try PrivateDirectory.create(url.deletingLastPathComponent(), SystemFiles())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).withUnsafeBytes {
            try AtomicFile(unlocked: url, SystemFiles()).replace(with: $0)
        }
    }

    static func remove(_ tool: String, _ environment: Environment) throws {
        let path = try url(tool, environment).path
        guard unlink(path) == 0 || errno == ENOENT else { throw KeychainError(file: path, "remove", errno) }
    }
}
