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
    + (strict
        // The one warning that is meant: see docs/decisions/008-the-engine-stays-out-of-sight.md.
        ? [.treatAllWarnings(as: .error), .treatWarning("ImplementationOnlyDeprecated", as: .warning)] : [])

/// Everything is bound at the start: a function that is bound when it is first called has the registers saved on the stack
/// then. For executables alone, since nobody could depend on a package whose libraries have unsafe flags.
let bindingAtStart: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))]

/// `KEYCHAIN_FUZZ=1` adds the fuzz entries, and coverage to the targets they reach (`Scripts/fuzz`). Kept out of
/// every other build: a package with unsafe flags cannot be depended on. `KEYCHAIN_FUZZ=replay` adds the entries alone, which
/// then only take inputs that there are.
let fuzzing = Context.environment["KEYCHAIN_FUZZ"]

/// `KEYCHAIN_BENCHMARKS=1` adds the benchmark's driver (`Scripts/benchmark`), which no test needs.
let isBenchmarking = Context.environment["KEYCHAIN_BENCHMARKS"] == "1"

let package = Package(
    name: "swift-keychain",
    products: [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Keychain", targets: ["Keychain"]),
        .library(name: "DataProtection", targets: ["DataProtection"]),
        .executable(name: "keychain", targets: ["KeychainTool"]),
        .executable(name: "keychaind", targets: ["KeychainDaemonMain"]),
        .plugin(name: "AppleCompatibility", targets: ["AppleCompatibility"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "CKeychainLinux"),
        .target(name: "CKeychainBus"),
        .target(
            name: "KeychainModel",
            dependencies: ["CKeychainLinux", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainCrypto",
            dependencies: [
                "CKeychainLinux", "KeychainModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: houseSettings
        ),
        .target(name: "KeychainFiles", dependencies: ["CKeychainLinux"], swiftSettings: houseSettings),
        .target(
            name: "KeychainEngine",
            dependencies: [
                "CKeychainLinux", "KeychainCrypto", "KeychainFiles", "KeychainModel",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainPlaces",
            dependencies: ["CKeychainLinux", "KeychainModel"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "Keychain",
            dependencies: [
                "CKeychainLinux", "KeychainBiometry", "KeychainEngine", "KeychainModel", "KeychainPlaces",
                "KeychainPrompt",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "Security",
            dependencies: [
                "Keychain", "KeychainModel",
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "LocalAuthentication",
            dependencies: ["Keychain", "KeychainModel", "Security"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "DataProtection",
            dependencies: [
                "CKeychainLinux", "Keychain", "KeychainCrypto", "KeychainFiles", "KeychainModel",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainBus",
            dependencies: ["CKeychainBus"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainBiometry",
            dependencies: [
                "CKeychainLinux", "KeychainBus", "KeychainModel", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainLogin",
            dependencies: ["KeychainBus", "KeychainModel"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainPrompt",
            dependencies: ["CKeychainLinux", "KeychainModel"],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainDaemon",
            dependencies: [
                "CKeychainLinux", "KeychainBiometry", "KeychainBus", "KeychainCrypto", "KeychainEngine",
                "KeychainLogin", "KeychainModel",
                "KeychainPlaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
        .target(name: "CErasingAllocator"),
        .executableTarget(
            name: "KeychainDaemonMain",
            dependencies: [
                "CErasingAllocator", "KeychainDaemon", "KeychainModel", "KeychainPlaces",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings,
            linkerSettings: bindingAtStart
        ),
        .executableTarget(
            name: "KeychainTool",
            dependencies: [
                "CKeychainBus", "CKeychainLinux", "DataProtection", "Keychain", "KeychainBus", "KeychainCrypto",
                "KeychainLogin", "KeychainModel", "KeychainPlaces",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings,
            linkerSettings: bindingAtStart
        ),
        .executableTarget(name: "AppleCompatibilityGenerator", swiftSettings: houseSettings),
        .plugin(
            name: "AppleCompatibility",
            capability: .buildTool(),
            dependencies: ["AppleCompatibilityGenerator"]
        ),
        .target(
            name: "KeychainTestSupport",
            dependencies: [
                "CKeychainLinux", "Keychain", "KeychainBus", "KeychainCrypto", "KeychainDaemon", "KeychainLogin",
                "KeychainEngine", "KeychainModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/KeychainTestSupport",
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainModelTests",
            dependencies: [
                "KeychainModel", "KeychainTestSupport", .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainCryptoTests",
            dependencies: [
                "KeychainCrypto", "KeychainModel", "KeychainTestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainEngineTests",
            dependencies: [
                "CKeychainTestSupport", "Keychain", "KeychainEngine", "KeychainCrypto", "KeychainFiles",
                "KeychainModel", "KeychainTestHelper", "KeychainTestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: houseSettings
        ),
        .target(name: "CKeychainTestSupport", path: "Tests/CKeychainTestSupport"),
        .target(
            name: "CKeychainFaults", path: "Tests/CKeychainFaults", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "KeychainTestHelper",
            dependencies: [
                "CKeychainFaults", "CKeychainTestSupport", "DataProtection", "Keychain", "KeychainCrypto",
                "KeychainEngine", "KeychainFileModel", "KeychainFiles", "KeychainModel", "KeychainPrompt",
                "KeychainTestSupport",
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
            name: "KeychainTests",
            dependencies: ["Keychain", "KeychainModel", "KeychainPlaces", "KeychainTestSupport"],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "DataProtectionTests",
            dependencies: [
                "CKeychainLinux", "CKeychainTestSupport", "DataProtection", "Keychain", "KeychainCrypto",
                "KeychainEngine", "KeychainFileModel", "KeychainFiles", "KeychainModel", "KeychainTestHelper",
                "KeychainTestSupport",
            ],
            swiftSettings: houseSettings
        ),
        .target(
            name: "KeychainFileModel",
            dependencies: [
                "DataProtection", "Keychain", "KeychainCrypto", "KeychainFiles", "KeychainModel", "KeychainTestSupport",
            ],
            path: "Tests/KeychainFileModel",
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "Security", "LocalAuthentication", "Keychain", "KeychainBiometry", "KeychainEngine", "KeychainModel",
                "KeychainPrompt", "KeychainTestSupport",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["Security", "LocalAuthentication", "Keychain", "KeychainTestSupport"],
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
                "KeychainTool", "DataProtection", "Keychain", "KeychainBus", "KeychainEngine", "KeychainLogin",
                "KeychainModel", "KeychainTestSupport",
            ],
            swiftSettings: houseSettings
        ),
        .testTarget(
            name: "KeychainDaemonTests",
            dependencies: [
                "CKeychainLinux", "CKeychainTestSupport", "KeychainBus", "KeychainDaemon", "KeychainEngine",
                "KeychainLogin", "KeychainModel", "KeychainPlaces", "KeychainTestHelper", "KeychainTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: houseSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

if isBenchmarking {
    package.targets.append(
        .executableTarget(
            name: "KeychainBenchmark",
            dependencies: [
                "DataProtection", "Keychain", "KeychainCrypto", "KeychainEngine", "KeychainModel", "Security",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
    let reached: Set = ["KeychainModel", "KeychainCrypto", "KeychainEngine", "Keychain", "Security"]
    for target in package.targets {
        if reached.contains(target.name) { target.swiftSettings = (target.swiftSettings ?? []) + coverage }
        if target.name == "CKeychainLinux" && isSanitizing {
            target.cSettings = [.unsafeFlags(["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"])]
        }
    }
    for (name, dependencies) in [
        ("FuzzStoredBytes", ["CFuzzer", "Keychain", "KeychainCrypto", "KeychainModel"]),
        ("FuzzDictionary", ["CFuzzer", "Security", "KeychainModel"]),
        ("FuzzWire", ["CFuzzer", "KeychainModel"]),
        (
            "FuzzStoredRows",
            [
                "CFuzzer", "KeychainCrypto", "KeychainEngine", "KeychainModel", "KeychainTestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
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
