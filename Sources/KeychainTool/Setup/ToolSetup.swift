internal import Foundation

/// The changes that let a tool find its secrets in the keychain.
struct SetupPlan {
    var changes: [SetupChange] = []
    /// The notes for the person, on the meaning and the limits of the change.
    var notes: [String] = []
    /// false: the tool asks no helper.
    var isPossible = true
    /// false: because of other settings the tool does not ask the keychain.
    var isEffective = true

    /// - Parameter content: nil: the file is as it should be.
    mutating func change(_ file: SetupFile, _ content: SetupContent?) {
        if let content { changes.append(SetupChange(file, content)) }
    }
}

/// A tool that `keychainctl setup` knows.
protocol ToolSetup: Sendable {
    static var name: String { get }
    static var summary: String { get }
    /// Whether the tool starts the command `keyring` (``KeyringLink``).
    static var usesKeyring: Bool { get }
    /// Plans the changes, and makes none.
    ///
    /// - Throws: ``ToolFailure`` for a file that cannot be changed safely. The message has the lines to write by hand.
    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan
}

extension ToolSetup {
    static var usesKeyring: Bool { false }
}

enum ToolSetups {
    static let all: [any ToolSetup.Type] = [
        GitSetup.self, DockerSetup.self, PodmanSetup.self, CargoSetup.self, PipSetup.self, UVSetup.self,
        SwiftPMSetup.self,
    ]

    static func named(_ name: String) -> (any ToolSetup.Type)? { all.first { $0.name == name } }
}
