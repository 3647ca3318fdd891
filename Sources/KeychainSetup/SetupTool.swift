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
