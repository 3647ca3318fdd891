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

/// The set-up of one tool.
protocol ToolSetup: Sendable {
    static var summary: String { get }
    /// Whether the tool starts the command `keyring` (``KeyringLink``).
    static var usesKeyring: Bool { get }
    /// Plans the changes, and makes none.
    ///
    /// - Throws: ``SetupFailure`` for a file that cannot be changed safely. The message has the lines to write by hand.
    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan
}

extension ToolSetup {
    static var usesKeyring: Bool { false }
}

/// The tools that `keychainctl setup` knows, by their names.
package enum SetupTool: String, Sendable, CaseIterable {
    case git, docker, podman, cargo, pip, uv, swiftpm

    var type: any ToolSetup.Type {
        switch self {
        case .git: GitSetup.self
        case .docker: DockerSetup.self
        case .podman: PodmanSetup.self
        case .cargo: CargoSetup.self
        case .pip: PipSetup.self
        case .uv: UVSetup.self
        case .swiftpm: SwiftPMSetup.self
        }
    }
}
