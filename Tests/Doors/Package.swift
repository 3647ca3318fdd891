// swift-tools-version: 6.2
// A program that comes to Apple's names by one of three doors, beside packages that look for these names. Scripts/check-doors
// builds it by each of them; KEYCHAIN_DOOR says which it is: plugin, alias, both or plain.

import PackageDescription

let door = Context.environment["KEYCHAIN_DOOR"] ?? "alias"

/// The plain door breaks this package.
let hasAsker = Context.environment["KEYCHAIN_DOOR_WITHOUT_ASKER"] == nil

/// Takes a minute to build.
let hasJWT = Context.environment["KEYCHAIN_DOOR_WITHOUT_JWT"] == nil

let strangers: [Target.Dependency] =
    [.product(name: "AsksAndImports", package: "Strangers")]
    + (hasJWT ? [.product(name: "JWTKit", package: "jwt-kit")] : [])
    + (hasAsker ? [.product(name: "AsksOnly", package: "Strangers")] : [])

let settings: [SwiftSetting] =
    (hasAsker ? [.define("HAS_ASKER")] : []) + (hasJWT ? [.define("HAS_JWT")] : [])

let aliased: [Target.Dependency] = [
    .product(name: "Security", package: "swift-keychain", moduleAliases: ["Security": "LinuxSecurity"]),
    .product(
        name: "LocalAuthentication", package: "swift-keychain",
        moduleAliases: ["LocalAuthentication": "LinuxLocalAuthentication"]),
]
let plugin = Target.PluginUsage.plugin(name: "AppleCompatibility", package: "swift-keychain")

let client: Target =
    switch door {
    case "plugin":
        .executableTarget(
            name: "DoorClient",
            dependencies: strangers + [
                .product(name: "KeychainSecurity", package: "swift-keychain"),
                .product(name: "KeychainLocalAuthentication", package: "swift-keychain"),
            ],
            path: "Sources/FoundationClient", swiftSettings: settings, plugins: [plugin])
    case "alias":
        .executableTarget(
            name: "DoorClient", dependencies: strangers + aliased, path: "Sources/SecurityClient",
            swiftSettings: settings)
    case "both":
        .executableTarget(
            name: "DoorClient",
            dependencies: strangers + aliased + [.product(name: "KeychainSecurity", package: "swift-keychain")],
            path: "Sources/SecurityClient", swiftSettings: settings, plugins: [plugin])
    case "plain":
        .executableTarget(
            name: "DoorClient",
            dependencies: strangers + [
                .product(name: "Security", package: "swift-keychain"),
                .product(name: "LocalAuthentication", package: "swift-keychain"),
            ],
            path: "Sources/SecurityClient", swiftSettings: settings)
    default: fatalError("there is no door called \(door)")
    }

let package = Package(
    name: "Doors",
    dependencies: [
        .package(path: Context.environment["KEYCHAIN_PACKAGE"] ?? "../.."), .package(path: "Strangers"),
    ] + (hasJWT ? [.package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1")] : []),
    targets: [client],
    swiftLanguageModes: [.v6]
)
