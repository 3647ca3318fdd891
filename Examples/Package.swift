// swift-tools-version: 6.2
// Small programs in the manner of code written for Apple's platforms. Scripts/check-examples runs them all.

import PackageDescription

/// On Apple's platforms the system has these modules, so there the targets go without ours.
let onLinux = TargetDependencyCondition.when(platforms: [.linux])
let security = Target.Dependency.product(name: "Security", package: "swift-keychain", condition: onLinux)
let localAuthentication = Target.Dependency.product(
    name: "LocalAuthentication", package: "swift-keychain", condition: onLinux)
let dataProtection = Target.Dependency.product(
    name: "DataProtection", package: "swift-keychain", condition: onLinux)
let appleCompatibility = Target.PluginUsage.plugin(name: "AppleCompatibility", package: "swift-keychain")

let settings: [SwiftSetting] =
    Context.environment["KEYCHAIN_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "swift-keychain", path: ".."),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // What the programs tell about themselves: nothing of it is needed to use the keychain.
        .target(name: "Story", swiftSettings: settings),

        // Imports Foundation only: the plugin adds what Apple's Foundation brings along.
        .executableTarget(
            name: "TokenManager",
            dependencies: [security, "Story"],
            swiftSettings: settings,
            plugins: [appleCompatibility]
        ),
        // Imports Security, so it needs no plugin.
        .executableTarget(
            name: "ItemClasses",
            dependencies: [security, "Story"],
            swiftSettings: settings
        ),
        // The plugin embeds the entitlements. They are excluded because SwiftPM has no rule for such files.
        .executableTarget(
            name: "SharedGroup",
            dependencies: [security, "Story"],
            exclude: ["SharedGroup.entitlements"],
            swiftSettings: settings,
            plugins: [appleCompatibility]
        ),
        .executableTarget(
            name: "BiometricItem",
            dependencies: [localAuthentication, security, "Story"],
            swiftSettings: settings
        ),
        // A package that asks canImport(Security), as jwt-kit's swift-certificates does, may have been compiled
        // with this Security. So each program that contains such a package lists the product.
        .executableTarget(
            name: "SignedToken",
            dependencies: [.product(name: "JWTKit", package: "jwt-kit"), dataProtection, security, "Story"],
            swiftSettings: settings
        ),
        // A library under the plugin, with entitlements for every program that has none of its own.
        .target(
            name: "LibraryClient",
            dependencies: [security],
            exclude: ["LibraryClient.entitlements"],
            swiftSettings: settings,
            plugins: [appleCompatibility]
        ),
        .executableTarget(
            name: "LibraryClientTool",
            dependencies: ["LibraryClient", "Story"],
            swiftSettings: settings
        ),
        // Every way of calling the keychain that tutorials show. Most of them date from Swift 5.
        .executableTarget(
            name: "TutorialShapes",
            dependencies: [localAuthentication, security, "Story"],
            swiftSettings: settings + [.swiftLanguageMode(.v5)],
            plugins: [appleCompatibility]
        ),
        // With the product, the plugin makes Foundation's own calls protect files. Isolated as Xcode's templates are.
        .executableTarget(
            name: "PrivateNotes",
            dependencies: [dataProtection, "Story"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)],
            plugins: [appleCompatibility]
        ),
        // What the same calls do without.
        .executableTarget(name: "PlainNotes", dependencies: ["Story"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
