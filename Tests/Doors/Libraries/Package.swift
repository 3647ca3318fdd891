// swift-tools-version: 6.2
// Targets of every shape that come to Apple's names by the alias, with the lines of docs/porting.md. Scripts/check-doors plans
// their build and looks for the alias in the plan; nothing here is compiled.

import PackageDescription

let package = Package(
    name: "Libraries",
    products: [
        .library(name: "Library", targets: ["Library"]), .library(name: "SecondLibrary", targets: ["SecondLibrary"]),
        // SwiftPM drops the alias of a product with two targets.
        .library(name: "Pair", targets: ["Pair", "PairedHalf"]),
    ],
    targets: [
        .target(name: "Library"), .target(name: "SecondLibrary", dependencies: ["Library"]), .target(name: "Pair"),
        .target(name: "PairedHalf"), .executableTarget(name: "Client", dependencies: ["Library"]),
        .testTarget(name: "LibraryTests", dependencies: ["Library"]),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
    package.dependencies.append(.package(path: Context.environment["KEYCHAIN_PACKAGE"] ?? "../../.."))
    for target in package.targets {
        target.dependencies.append(
            .product(name: "Security", package: "swift-keychain", moduleAliases: ["Security": "LinuxSecurity"]))
    }
#endif
