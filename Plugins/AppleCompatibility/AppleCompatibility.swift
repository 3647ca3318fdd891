import Foundation
import PackagePlugin

/// Adds one generated file to the target that lists this plugin, so that code written for Apple's
/// platforms compiles there unchanged and the target's entitlements travel inside the program.
@main
struct AppleCompatibility: BuildToolPlugin {
    private let fileModule = "DataProtection"

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else {
            Diagnostics.error("\(target.name): AppleCompatibility works with Swift targets only")
            return []
        }
        let modules = importedModules(for: target)
        #if os(Linux)
            // Elsewhere the client's condition has removed the dependency, and Apple's module takes its place.
            guard modules.contains("KeychainSecurity") || modules.contains(fileModule) else {
                Diagnostics.error(
                    """
                    \(target.name): AppleCompatibility needs the product KeychainSecurity among the target's dependencies, or \
                    \(fileModule) for protected files: \
                    .product(name: "KeychainSecurity", package: "swift-keychain"), under #if os(Linux)
                    """
                )
                return []
            }
            if !modules.contains(fileModule), let file = firstUseOfProtection(in: target) {
                Diagnostics.warning(
                    """
                    \(target.name): \(file) protects files, which Foundation on Linux accepts and writes in plain. Add \
                    .product(name: "\(fileModule)", package: "swift-keychain") \
                    to the target's dependencies under #if os(Linux)
                    """
                )
            }
        #endif
        let entitlements = entitlementsFiles(in: target.directoryURL)
        guard entitlements.count <= 1 else {
            let paths = entitlements.map(\.path).joined(separator: ", ")
            Diagnostics.error("\(target.name): a target can have one entitlements file, found \(paths)")
            return []
        }

        let output = context.pluginWorkDirectoryURL.appending(path: "AppleCompatibility.generated.swift")
        var arguments = ["--output", output.path, "--kind", target.kind == .executable ? "executable" : "other"]
        for module in modules {
            arguments += ["--import", module]
        }
        for file in entitlements {
            arguments += ["--entitlements", file.path]
        }
        return [
            .buildCommand(
                displayName: "Generating Apple compatibility for \(target.name)",
                executable: try context.tool(named: "AppleCompatibilityGenerator").url,
                arguments: arguments,
                inputFiles: entitlements,
                outputFiles: [output]
            )
        ]
    }

    /// The modules that the generated file re-exports: only what the target is sure to be built after.
    private func importedModules(for target: SwiftSourceModuleTarget) -> [String] {
        let available = target.recursiveTargetDependencies.compactMap { ($0 as? any SourceModuleTarget)?.moduleName }
        return ["KeychainSecurity", "KeychainLocalAuthentication", fileModule].filter(available.contains)
    }

    /// The name of a source file that asks Foundation for protection. Comments and texts count too: a warning is all that
    /// comes of it.
    private func firstUseOfProtection(in target: SwiftSourceModuleTarget) -> String? {
        let names = ["completeFileProtection", ".protectionKey", ".fileProtectionKey"]
        let file = target.sourceFiles(withSuffix: ".swift").first { file in
            guard let text = try? String(contentsOf: file.url, encoding: .utf8) else { return false }
            return names.contains(where: text.contains)
        }
        return file?.url.lastPathComponent
    }

    /// Lists the directory itself, because a file that the manifest excludes is not among the target's
    /// source files. Hidden directories are left out: a build directory may hold other packages.
    private func entitlementsFiles(in directory: URL) -> [URL] {
        let files = FileManager.default.enumerator(
            at: directory,
            includingPropertiesForKeys: nil,
            options: [.skipsHiddenFiles, .skipsPackageDescendants]
        )
        return (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "entitlements" }
            .sorted { $0.path < $1.path }
    }
}
