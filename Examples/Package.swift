// swift-tools-version: 6.2
// Small programs in the manner of code written for Apple's platforms. Scripts/check-examples runs them all.

import PackageDescription

// On Apple's platforms the system has these modules, so there the targets go without ours.
#if os(Linux)
    /// For code that imports only Foundation, with the plugin.
    let keychainSecurity: [Target.Dependency] = [.product(name: "KeychainSecurity", package: "swift-keychain")]
    /// For code that imports Security, under the alias that keeps the name away from all others.
    let security: [Target.Dependency] = [
        .product(name: "Security", package: "swift-keychain", moduleAliases: ["Security": "LinuxSecurity"])
    ]
    let localAuthentication: [Target.Dependency] = [
        .product(
            name: "LocalAuthentication", package: "swift-keychain",
            moduleAliases: ["LocalAuthentication": "LinuxLocalAuthentication"])
    ]
    let swiftKeychain: [Target.Dependency] = [.product(name: "SwiftKeychain", package: "swift-keychain")]
    let dataProtection: [Target.Dependency] = [.product(name: "DataProtection", package: "swift-keychain")]
    /// The adapter to jwt-kit, which the trait JWTKit turns on.
    let keychainJWTKit: [Target.Dependency] = [.product(name: "KeychainJWTKit", package: "swift-keychain")]
    /// The adapter to NIOSSL, which the trait NIOSSL turns on.
    let keychainNIOSSL: [Target.Dependency] = [.product(name: "KeychainNIOSSL", package: "swift-keychain")]
    let appleCompatibility: [Target.PluginUsage] = [.plugin(name: "AppleCompatibility", package: "swift-keychain")]
#else
    let keychainSecurity: [Target.Dependency] = []
    let security: [Target.Dependency] = []
    let localAuthentication: [Target.Dependency] = []
    let swiftKeychain: [Target.Dependency] = []
    let dataProtection: [Target.Dependency] = []
    let keychainJWTKit: [Target.Dependency] = []
    let keychainNIOSSL: [Target.Dependency] = []
    let appleCompatibility: [Target.PluginUsage] = []
#endif

let settings: [SwiftSetting] =
    Context.environment["KEYCHAIN_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// Whether the programs beside jwt-kit and NIOSSL are there, which take minutes to build: `KEYCHAIN_ADAPTERS=0` leaves them out.
let hasAdapters = Context.environment["KEYCHAIN_ADAPTERS"] != "0"

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(
            path: Context.environment["KEYCHAIN_PACKAGE"] ?? "..", traits: hasAdapters ? ["JWTKit", "NIOSSL"] : [])
    ],
    targets: [
        // What the programs tell about themselves: nothing of it is needed to use the keychain.
        .target(name: "Story", swiftSettings: settings),

        // Has no Apple code: the API of Swift's own types.
        .executableTarget(
            name: "TypedValues",
            dependencies: swiftKeychain + ["Story"],
            swiftSettings: settings
        ),
        // Imports Foundation only: the plugin adds what Apple's Foundation brings along.
        .executableTarget(
            name: "TokenManager",
            dependencies: keychainSecurity + ["Story"],
            swiftSettings: settings,
            plugins: appleCompatibility
        ),
        // Imports Security, so it needs no plugin.
        .executableTarget(
            name: "ItemClasses",
            dependencies: security + ["Story"],
            swiftSettings: settings
        ),
        // The plugin embeds the entitlements. They are excluded because SwiftPM has no rule for such files.
        .executableTarget(
            name: "SharedGroup",
            dependencies: keychainSecurity + ["Story"],
            exclude: ["SharedGroup.entitlements"],
            swiftSettings: settings,
            plugins: appleCompatibility
        ),
        .executableTarget(
            name: "BiometricItem",
            dependencies: localAuthentication + security + ["Story"],
            swiftSettings: settings
        ),
        // A library under the plugin, with entitlements for every program that has none of its own.
        .target(
            name: "LibraryClient",
            dependencies: keychainSecurity,
            exclude: ["LibraryClient.entitlements"],
            swiftSettings: settings,
            plugins: appleCompatibility
        ),
        .executableTarget(
            name: "LibraryClientTool",
            dependencies: ["LibraryClient", "Story"],
            swiftSettings: settings
        ),
        // Every way of calling the keychain that tutorials show. Most of them date from Swift 5.
        .executableTarget(
            name: "TutorialShapes",
            dependencies: keychainSecurity + localAuthentication + ["Story"],
            swiftSettings: settings + [.swiftLanguageMode(.v5)],
            plugins: appleCompatibility
        ),
        // With the product, the plugin makes Foundation's own calls protect files. Isolated as Xcode's templates are.
        .executableTarget(
            name: "PrivateNotes",
            dependencies: dataProtection + ["Story"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)],
            plugins: appleCompatibility
        ),
        // What the same calls do without.
        .executableTarget(name: "PlainNotes", dependencies: ["Story"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

if hasAdapters {
    package.dependencies += [
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    ]
    package.targets += [
        // swift-certificates, which jwt-kit uses, asks canImport(Security): the alias keeps it from finding one.
        .executableTarget(
            name: "SignedToken",
            dependencies: [.product(name: "JWTKit", package: "jwt-kit"), "Story"] + dataProtection + security,
            swiftSettings: settings
        ),
        // A service signs tokens with a key that is in the daemon and never in the service.
        .executableTarget(
            name: "TokenService",
            dependencies: [.product(name: "JWTKit", package: "jwt-kit"), "Pass", "Story"] + keychainJWTKit + security,
            swiftSettings: settings
        ),
        // Has the public key alone, and no keychain.
        .executableTarget(
            name: "TokenVerifier",
            dependencies: [.product(name: "JWTKit", package: "jwt-kit"), "Pass", "Story"],
            swiftSettings: settings
        ),
        .target(name: "Pass", dependencies: [.product(name: "JWTKit", package: "jwt-kit")], swiftSettings: settings),
        // A server and a client that show each other certificates. Their keys are in the daemon and never in the programs.
        .executableTarget(
            name: "MutualTLS",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), "Story",
            ] + keychainNIOSSL + security,
            swiftSettings: settings
        ),
    ]
}
