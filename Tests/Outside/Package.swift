// swift-tools-version: 6.2
// This package as its users see it: from a package of their own. Scripts/check-outside writes the sources that are missing
// here, builds everything and runs it.

import PackageDescription

// Under the aliases that the documents name, so that the doors are used as users should.
let security = Target.Dependency.product(
    name: "Security", package: "swift-keychain", moduleAliases: ["Security": "LinuxSecurity"])
let localAuthentication = Target.Dependency.product(
    name: "LocalAuthentication", package: "swift-keychain",
    moduleAliases: ["LocalAuthentication": "LinuxLocalAuthentication"])
let keychainSecurity = Target.Dependency.product(name: "KeychainSecurity", package: "swift-keychain")
let keychainLocalAuthentication = Target.Dependency.product(
    name: "KeychainLocalAuthentication", package: "swift-keychain")
let keychain = Target.Dependency.product(name: "SwiftKeychain", package: "swift-keychain")
let keychainTesting = Target.Dependency.product(name: "SwiftKeychainTesting", package: "swift-keychain")
let dataProtection = Target.Dependency.product(name: "DataProtection", package: "swift-keychain")

let settings: [SwiftSetting] =
    [.enableUpcomingFeature("MemberImportVisibility")]
    + (Context.environment["KEYCHAIN_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "Outside",
    dependencies: [
        .package(path: Context.environment["KEYCHAIN_PACKAGE"] ?? "../.."),
        // For the points of private numbers in test vectors.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // What the programs below print, and how they fail.
        .target(name: "Report", swiftSettings: settings),

        // One program for each module. Together they use everything public, once.
        .executableTarget(
            name: "KeychainSecurityCalls", dependencies: [security, "Report"], swiftSettings: settings),
        .executableTarget(
            name: "KeychainLocalAuthenticationCalls",
            dependencies: [localAuthentication, keychain, security, "Report"], swiftSettings: settings),
        .executableTarget(name: "SwiftKeychainCalls", dependencies: [keychain, "Report"], swiftSettings: settings),
        .executableTarget(
            name: "SwiftKeychainTestingCalls", dependencies: [keychainTesting, keychain, "Report"],
            swiftSettings: settings),
        .executableTarget(
            name: "DataProtectionCalls", dependencies: [dataProtection, keychain, "Report"], swiftSettings: settings),

        .target(
            name: "LanguageMode5", dependencies: [dataProtection, keychain],
            swiftSettings: settings + [.swiftLanguageMode(.v5)]),

        // A Foundation that has Apple's names by itself: they are not ambiguous, and its own come first.
        .target(name: "LaterFoundation", swiftSettings: settings),
        .target(
            name: "LaterFoundationCalls", dependencies: [dataProtection, "LaterFoundation"], swiftSettings: settings),

        // Code for keys as programs for Apple's platforms have it.
        .executableTarget(name: "KeyListings", dependencies: [security, "Report"], swiftSettings: settings),

        // Test vectors that others made (Scripts/check-vectors).
        .executableTarget(
            name: "PublicVectors", dependencies: [security, .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),

        // Stores for a day, and looks a day later.
        .executableTarget(name: "TokenForADay", dependencies: [keychain, security], swiftSettings: settings),

        // Code that only imports Foundation: every member that the plugin adds to it.
        .executableTarget(
            name: "FoundationMembers", dependencies: [dataProtection, keychainSecurity], swiftSettings: settings,
            plugins: [.plugin(name: "AppleCompatibility", package: "swift-keychain")]),

        // The Swift code of the documents: one function for each snippet.
        .executableTarget(
            name: "Snippets", dependencies: [dataProtection, keychain, keychainTesting, localAuthentication, security],
            path: ".build/made/Snippets", swiftSettings: settings),

        // The size of every public type, as this package's compiler sees it and as the library does.
        .target(name: "Layout", swiftSettings: settings),
        .executableTarget(
            name: "Layouts",
            dependencies: [
                "BrokenLayout", "Layout", dataProtection, keychain, keychainLocalAuthentication, keychainSecurity,
                keychainTesting,
            ],
            path: ".build/made/Layouts", swiftSettings: settings),
        // A library with the mistake that Layouts has to find. Its warning is the compiler's word for that mistake.
        .target(name: "BrokenLayout", dependencies: ["HiddenField"]),
        .target(name: "HiddenField", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
