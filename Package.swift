// swift-tools-version: 6.2
// swift-keychain: Keychain Services and Data Protection for Swift on Linux.

import PackageDescription

/// `KEYCHAIN_STRICT=1` turns warnings into errors, for our own targets only:
/// a dependency's warning is not ours to mend, and a client must never fail on one of ours.
let strict = Context.environment["KEYCHAIN_STRICT"] == "1"

let houseSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    + (strict ? [.treatAllWarnings(as: .error)] : [])

/// For targets within reach of a client's compiler, which call C by declared symbols
/// (docs/decisions/026-c-by-declared-symbols.md).
let callingC = houseSettings + [.enableExperimentalFeature("Extern")]

/// Everything is bound at the start: a function that is bound when it is first called has the registers saved on the stack
/// then. For executables alone, since nobody could depend on a package whose libraries have unsafe flags.
let bindingAtStart: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))]

/// `KEYCHAIN_FUZZ=1` adds the fuzz entries, and coverage to the targets they reach (`Scripts/fuzz`). Kept out of
/// every other build: a package with unsafe flags cannot be depended on. `KEYCHAIN_FUZZ=replay` adds the entries alone, which
/// then only take inputs that there are.
let fuzzing = Context.environment["KEYCHAIN_FUZZ"]

/// `KEYCHAIN_DOORS=0` leaves out the modules with Apple's names. Such a module stays in the build directory and changes later
/// builds there. Our own scripts leave them out, except those that test them.
let hasDoors = Context.environment["KEYCHAIN_DOORS"] != "0"

/// `KEYCHAIN_BENCHMARKS=1` adds the benchmark's driver (`Scripts/benchmark`), which no test needs.
let isBenchmarking = Context.environment["KEYCHAIN_BENCHMARKS"] == "1"

let package = Package(
    name: "swift-keychain",
    products: [
        .library(name: "KeychainSecurity", targets: ["KeychainSecurity", "KeychainEmbedded"]),
        .library(
            name: "KeychainLocalAuthentication", targets: ["KeychainLocalAuthentication", "KeychainEmbedded"]),
        .library(name: "SwiftKeychain", targets: ["SwiftKeychain", "KeychainEmbedded"]),
        .library(name: "SwiftKeychainTesting", targets: ["SwiftKeychainTesting", "KeychainEmbedded"]),
        .library(name: "DataProtection", targets: ["DataProtection", "KeychainEmbedded"]),
        .library(name: "KeychainNIOSSL", targets: ["KeychainNIOSSL", "KeychainEmbedded"]),
        .library(name: "KeychainJWTKit", targets: ["KeychainJWTKit", "KeychainEmbedded"]),
        .library(name: "KeychainX509", targets: ["KeychainX509", "KeychainEmbedded"]),
        .executable(name: "keychainctl", targets: ["KeychainTool"]),
        .executable(name: "keychaind", targets: ["KeychainDaemonMain"]),
        .executable(name: "keychain-mount", targets: ["KeychainMount"]),
        .plugin(name: "AppleCompatibility", targets: ["AppleCompatibility"]),
    ],
    // What an adapter adapts to is fetched, resolved and compiled for the packages alone that ask for its trait
    // (docs/decisions/037-adapters.md).
    traits: [
        .trait(name: "NIOSSL", description: "KeychainNIOSSL: TLS with a key that stays in the keychain"),
        .trait(name: "JWTKit", description: "KeychainJWTKit: tokens signed with a key that stays in the keychain"),
        .trait(name: "X509", description: "KeychainX509: certificates signed with a key that stays in the keychain"),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // For the adapters alone.
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .target(name: "CKeychainLinux"),
        .target(name: "CKeychainBus"),
        .target(name: "CKeychainCrypto", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
        .target(name: "CKeychainSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "KeychainModel", swiftSettings: houseSettings),
        .target(name: "KeychainEntitlements", swiftSettings: houseSettings),
        .target(name: "KeychainSystem", dependencies: ["CKeychainLinux", "KeychainModel"], swiftSettings: callingC),
        // The files by which root gives groups to programs. For the daemon, which obeys them, and the command, which shows them.
        .target(
            name: "KeychainManifests", dependencies: ["KeychainEntitlements", "KeychainModel", "KeychainSystem"],
            swiftSettings: houseSettings),
        .target(
            name: "KeychainWire",
            dependencies: ["KeychainModel"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainCrypto",
            dependencies: [
                "CKeychainCrypto", "KeychainModel", "KeychainSystem", "KeychainWire",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: callingC
        ),
        // RSA, ECIES and files of keys: nothing that the engine or a client of SwiftKeychain needs.
        .target(
            name: "KeychainKeys",
            dependencies: [
                "KeychainCrypto", "KeychainModel", "KeychainSystem",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: callingC
        ),
        // Exports, moves of items and one-time codes, which are the command's alone.
        .target(
            name: "KeychainTransfer",
            dependencies: [
                "KeychainClient", "KeychainCrypto", "KeychainKeys", "KeychainModel", "KeychainSystem", "KeychainWire",
            ],
            swiftSettings: callingC
        ),
        .target(
            name: "KeychainEngine",
            dependencies: [
                "CKeychainLinux", "CKeychainSQLite", "KeychainCrypto", "KeychainModel",
                "KeychainSystem", "KeychainWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        // Looks at a store from outside, and repairs a damaged one. For the command, so that no client links it.
        .target(
            name: "KeychainSalvage",
            dependencies: [
                "CKeychainLinux", "KeychainCrypto", "KeychainEngine", "KeychainModel",
                "KeychainSystem",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        // Nothing imports it: KeychainClient finds it by the name of its one function. Each product lists it, and each program
        // and test of this package lists or reaches it.
        .target(
            name: "KeychainEmbedded",
            dependencies: ["KeychainBiometry", "KeychainEngine", "KeychainModel", "KeychainPrompt"],
            swiftSettings: houseSettings
        ),
        // The floor of every front end: the way to an engine, asking a person, questions and their answers.
        .target(
            name: "KeychainClient",
            dependencies: [
                "KeychainCrypto", "KeychainEntitlements", "KeychainModel", "KeychainSystem", "KeychainWire",
            ],
            swiftSettings: callingC
        ),
        .target(
            name: "SwiftKeychain",
            dependencies: ["KeychainClient", "KeychainModel"],
            swiftSettings: houseSettings
        ),
        // For the tests of programs.
        .target(
            name: "SwiftKeychainTesting",
            dependencies: ["KeychainClient", "KeychainModel", "KeychainSystem", "SwiftKeychain"],
            swiftSettings: houseSettings
        ),
        // X.509, PKCS#7, PKCS#10 and PKCS#12, and the judgement of chains: bytes and dates in, verdicts out.
        .target(
            name: "KeychainCertificates",
            dependencies: [
                "KeychainCrypto", "KeychainKeys", "KeychainModel", "KeychainSystem",
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: callingC
        ),
        .target(
            name: "KeychainSecurity",
            dependencies: [
                "KeychainCertificates", "KeychainClient", "KeychainCrypto", "KeychainKeys", "KeychainModel",
                "KeychainSystem",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainLocalAuthentication",
            dependencies: ["KeychainClient", "KeychainModel", "KeychainSecurity"],
            swiftSettings: houseSettings
        ),
        // The format of a protected file. It knows no keychain: keys come through a protocol.
        .target(
            name: "SealedFiles",
            dependencies: ["KeychainCrypto", "KeychainModel", "KeychainSystem"],
            swiftSettings: houseSettings
        ),
        // Protected files and their handles, without Foundation, so that the command links none of it.
        .target(
            name: "DataProtectionCore",
            dependencies: ["KeychainClient", "KeychainCrypto", "KeychainModel", "KeychainSystem", "SealedFiles"],
            swiftSettings: houseSettings
        ),
        // Foundation's own calls and notifications.
        .target(
            name: "DataProtection",
            dependencies: [
                "DataProtectionCore", "KeychainClient", "KeychainCrypto", "KeychainModel", "KeychainSystem",
            ],
            swiftSettings: houseSettings
        ),
        // The adapters: keys for other packages' TLS, tokens and certificates. Each is empty without its trait.
        .target(
            name: "KeychainSigning",
            dependencies: ["KeychainSecurity", .product(name: "SwiftASN1", package: "swift-asn1")],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainNIOSSL",
            dependencies: [
                "KeychainSecurity", "KeychainSigning",
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIOSSL"])),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainJWTKit",
            dependencies: [
                "KeychainSecurity", "KeychainSigning",
                .product(name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["JWTKit"])),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainX509",
            dependencies: [
                "KeychainSecurity", "KeychainSigning",
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["X509"])),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainBus",
            dependencies: ["CKeychainBus", "KeychainSystem"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainBiometry",
            dependencies: [
                "CKeychainLinux", "KeychainBus", "KeychainCrypto", "KeychainModel", "KeychainSystem",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainLogin",
            dependencies: ["CKeychainLinux", "KeychainBus", "KeychainModel", "KeychainSystem"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainPrompt",
            dependencies: ["CKeychainLinux", "KeychainModel", "KeychainSystem"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainDaemon",
            dependencies: [
                "CKeychainLinux", "KeychainBiometry", "KeychainBus", "KeychainCrypto", "KeychainEngine",
                "KeychainLogin", "KeychainManifests", "KeychainModel",
                "KeychainSystem", "KeychainWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        .target(name: "CErasingAllocator"),
        // The kernel's FUSE protocol, which the mount alone speaks.
        .target(name: "CKeychainFuse"),
        .executableTarget(
            name: "KeychainMount",
            dependencies: [
                "CErasingAllocator", "CKeychainFuse", "CKeychainLinux", "DataProtectionCore", "KeychainClient",
                "KeychainEmbedded",
                "KeychainModel",
                "KeychainSystem",
            ],
            swiftSettings: houseSettings,
            linkerSettings: bindingAtStart
        ),
        .executableTarget(
            name: "KeychainDaemonMain",
            dependencies: [
                "CErasingAllocator", "KeychainDaemon", "KeychainLogin", "KeychainManifests", "KeychainModel",
                "KeychainSystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings,
            linkerSettings: bindingAtStart
        ),
        // What 'keychainctl run' reads, how it starts a program, and how it masks output; the editors and the programs of the
        // clipboard. It finds no secret by itself.
        .target(
            name: "KeychainRun",
            dependencies: ["CKeychainLinux", "KeychainKeys", "KeychainModel", "KeychainSystem"],
            swiftSettings: houseSettings
        ),
        // What other tools start to find their secrets (docs/helpers.md): other names of the command.
        .target(
            name: "KeychainHelpers",
            dependencies: [
                "KeychainClient", "KeychainModel", "KeychainSystem", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        // Other tools' configuration. Apart from the helpers: no helper changes a file.
        .target(
            name: "KeychainSetup", dependencies: ["KeychainModel", "KeychainRun", "KeychainSystem"],
            swiftSettings: houseSettings),
        .executableTarget(
            name: "KeychainTool",
            dependencies: [
                "CKeychainLinux", "DataProtectionCore", "KeychainBus", "KeychainCertificates", "KeychainClient",
                "KeychainCrypto", "KeychainEmbedded", "KeychainHelpers", "KeychainKeys", "KeychainLogin",
                "KeychainManifests", "KeychainModel", "KeychainPrompt", "KeychainRun", "KeychainSalvage",
                "KeychainSetup", "KeychainSystem", "KeychainTransfer", "KeychainWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Demo/steps.txt"), .embedInCode("Generate/words.txt")],
            swiftSettings: callingC,
            linkerSettings: bindingAtStart
        ),
        .executableTarget(
            name: "AppleCompatibilityGenerator", dependencies: ["KeychainEntitlements"], swiftSettings: houseSettings
        ),
        .plugin(
            name: "AppleCompatibility",
            capability: .buildTool(),
            dependencies: ["AppleCompatibilityGenerator"]
        ),
        .target(
            name: "KeychainTestSupport",
            dependencies: [
                "CKeychainLinux", "CKeychainSQLite", "KeychainBus", "KeychainCrypto", "KeychainDaemon",
                "KeychainEmbedded",
                "KeychainClient", "KeychainEngine", "KeychainKeys", "KeychainLogin", "KeychainModel", "KeychainSystem",
                "SwiftKeychain",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/KeychainTestSupport",
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainModelTests",
            dependencies: ["KeychainModel", "KeychainSystem", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainManifestsTests",
            dependencies: ["KeychainManifests", "KeychainModel", "KeychainSystem", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainMountTests",
            dependencies: [
                "CKeychainFuse", "DataProtectionCore", "KeychainClient", "KeychainModel", "KeychainMount",
                "KeychainSystem", "KeychainTestSupport",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainWireTests",
            dependencies: ["KeychainModel", "KeychainTestSupport", "KeychainWire"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainCryptoTests",
            dependencies: [
                "KeychainCrypto", "KeychainKeys", "KeychainModel", "KeychainTestSupport", "KeychainTransfer",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: callingC
        ),
        .testTarget(
            name: "KeychainEngineTests",
            dependencies: [
                "CKeychainLinux", "CKeychainSQLite", "CKeychainTestSupport", "KeychainCrypto", "KeychainEngine",
                "KeychainModel", "KeychainSalvage", "KeychainSystem", "KeychainTestHelper", "KeychainTestSupport",
                "KeychainClient", "SwiftKeychain",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: houseSettings
        ),
        .target(name: "CKeychainTestSupport", path: "Tests/CKeychainTestSupport"),
        .target(
            name: "CKeychainFaults", path: "Tests/CKeychainFaults", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "KeychainTestHelper",
            dependencies: [
                "CKeychainFaults", "CKeychainLinux", "CKeychainTestSupport", "DataProtection", "DataProtectionCore",
                "KeychainCrypto",
                "KeychainEmbedded",
                "KeychainEngine", "KeychainFileModel", "KeychainModel", "KeychainPrompt", "KeychainSystem",
                "KeychainTestSupport", "KeychainWire", "KeychainClient", "SwiftKeychain",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/KeychainTestHelper",
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainFaultTests",
            dependencies: ["KeychainTestHelper", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainBiometryTests",
            dependencies: ["KeychainBiometry", "KeychainModel", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "SwiftKeychainTests",
            dependencies: [
                "DataProtection", "DataProtectionCore", "KeychainClient", "KeychainEngine", "KeychainModel",
                "KeychainSystem",
                "KeychainTestSupport", "SwiftKeychain", "KeychainWire",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "SwiftKeychainTestingTests",
            dependencies: [
                "KeychainEmbedded", "KeychainLocalAuthentication", "KeychainSecurity", "KeychainClient",
                "SwiftKeychain",
                "SwiftKeychainTesting",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "DataProtectionTests",
            dependencies: [
                "CKeychainLinux", "CKeychainTestSupport", "DataProtection", "DataProtectionCore", "KeychainClient",
                "SwiftKeychain",
                "KeychainCrypto",
                "KeychainEngine", "KeychainFileModel", "KeychainSystem", "KeychainModel", "KeychainTestHelper",
                "KeychainTestSupport", "SealedFiles",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainFileModel",
            dependencies: [
                "DataProtection", "DataProtectionCore", "KeychainCrypto", "KeychainModel", "KeychainSystem",
                "KeychainTestSupport",
                "KeychainClient", "SwiftKeychain",
            ],
            path: "Tests/KeychainFileModel",
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainSecurityTests",
            dependencies: [
                "KeychainBiometry", "KeychainCertificates", "KeychainCrypto", "KeychainEngine", "KeychainKeys",
                "KeychainLocalAuthentication",
                "KeychainModel", "KeychainPrompt", "KeychainSecurity", "KeychainTestSupport", "KeychainClient",
                "SwiftKeychain",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "KeychainCertificates", "KeychainClient", "KeychainCrypto", "KeychainKeys",
                "KeychainLocalAuthentication", "KeychainModel", "KeychainSecurity", "KeychainTestSupport",
                "SwiftKeychain",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "AppleCompatibilityTests", dependencies: ["AppleCompatibilityGenerator"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainPromptTests",
            dependencies: ["KeychainModel", "KeychainPrompt", "KeychainTestHelper", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainToolTests",
            dependencies: [
                "KeychainTool", "DataProtection", "DataProtectionCore", "KeychainClient", "SwiftKeychain",
                "KeychainBus", "KeychainEngine",
                "KeychainHelpers",
                "KeychainLogin", "KeychainModel", "KeychainRun", "KeychainSetup", "KeychainSystem",
                "KeychainTestSupport", "KeychainTransfer",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainDaemonTests",
            dependencies: [
                "CKeychainLinux", "CKeychainTestSupport", "KeychainBus", "KeychainDaemon", "KeychainEngine",
                "KeychainLogin", "KeychainManifests", "KeychainModel", "KeychainTestHelper", "KeychainTestSupport",
                "KeychainSystem", "KeychainWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Leaves: nothing of this package depends on them (docs/decisions/027-three-doors.md).
if hasDoors {
    for name in ["Security", "LocalAuthentication"] {
        package.products.append(.library(name: name, targets: [name, "KeychainEmbedded"]))
        package.targets.append(
            .target(name: name, dependencies: [.byName(name: "Keychain\(name)")], swiftSettings: houseSettings))
    }
}

if isBenchmarking {
    package.targets.append(
        .executableTarget(
            name: "KeychainBenchmark",
            dependencies: [
                "DataProtection", "DataProtectionCore", "KeychainCertificates", "KeychainCrypto", "KeychainEmbedded",
                "KeychainEngine",
                "KeychainModel", "KeychainSecurity", "KeychainWire", "KeychainClient", "SwiftKeychain",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Benchmarks/KeychainBenchmark",
            swiftSettings: houseSettings
        ))
}

if fuzzing == "1" || fuzzing == "replay" {
    let isReplaying = fuzzing == "replay"
    let isSanitizing = !isReplaying && Context.environment["KEYCHAIN_FUZZ_SANITIZER"] != "none"
    let sanitizers = isSanitizing ? "fuzzer,address" : "fuzzer"
    let coverage: [SwiftSetting] = isReplaying ? [] : [.unsafeFlags(["-sanitize=\(sanitizers)"])]
    let fuzzer: [LinkerSetting] = isReplaying ? [] : [.unsafeFlags(["-sanitize=\(sanitizers)", "-use-ld=lld"])]
    package.targets.append(
        .target(
            name: "CFuzzer", path: "Fuzzing/CFuzzer",
            cSettings: isReplaying ? [.define("CFUZZER_REPLAY")] : []))
    let reached: Set = [
        "KeychainCertificates", "KeychainClient", "KeychainCrypto", "KeychainEngine", "KeychainHelpers", "KeychainKeys",
        "KeychainManifests", "KeychainModel", "KeychainRun", "KeychainSecurity", "KeychainSetup", "KeychainTransfer",
        "KeychainWire",
        "SwiftKeychain",
    ]
    for target in package.targets {
        if reached.contains(target.name) { target.swiftSettings = (target.swiftSettings ?? []) + coverage }
        if target.name == "CKeychainLinux" && isSanitizing {
            target.cSettings = [.unsafeFlags(["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"])]
        }
    }
    for (name, dependencies) in [
        (
            "FuzzStoredBytes",
            [
                "CFuzzer", "KeychainClient", "KeychainCrypto", "KeychainEmbedded", "KeychainManifests", "KeychainModel",
                "KeychainSystem", "KeychainTransfer", "KeychainWire", "SwiftKeychain",
            ]
        ),
        ("FuzzDictionary", ["CFuzzer", "KeychainEmbedded", "KeychainModel", "KeychainSecurity"]),
        ("FuzzWire", ["CFuzzer", "KeychainModel", "KeychainWire"]),
        (
            "FuzzCertificateFile",
            ["CFuzzer", "KeychainCertificates", "KeychainCrypto", "KeychainKeys", "KeychainModel"]
        ),
        ("FuzzRun", ["CFuzzer", "KeychainModel", "KeychainRun"]),
        ("FuzzHelpers", ["CFuzzer", "KeychainEmbedded", "KeychainHelpers", "KeychainModel"]),
        ("FuzzSetup", ["CFuzzer", "KeychainSetup"]),
        (
            "FuzzKeyFile",
            [
                "CFuzzer", "KeychainCertificates", "KeychainEmbedded", "KeychainKeys", "KeychainModel",
                "KeychainSecurity", "KeychainTransfer",
            ]
        ),
        (
            "FuzzStoredRows",
            [
                "CFuzzer", "KeychainCrypto", "KeychainEngine", "KeychainModel", "KeychainTestSupport", "KeychainWire",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
    ] as [(String, [Target.Dependency])] {
        package.targets.append(
            .executableTarget(
                name: name, dependencies: dependencies, path: "Fuzzing/\(name)",
                swiftSettings: houseSettings + coverage,
                linkerSettings: fuzzer))
    }
}
